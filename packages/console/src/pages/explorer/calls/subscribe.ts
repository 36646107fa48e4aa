import { createClient } from 'graphql-ws';
import type { FormattedExecutionResult } from 'graphql-ws';
import { refusalOf, statedPoints } from './report.ts';
import type { Refusal, SubscriptionPrice, SubscriptionReport } from './report.ts';
import type { GraphqlParams, TokenSource } from './requests.ts';

type Listener = {
  onResult: (result: unknown) => void;
  onReport: (report: SubscriptionReport) => void;
  onEnd: (errors: unknown) => void;
};

type SubscribeOptions = { dataUrl: string; token: TokenSource };

/**
 * Opens a subscription on a WebSocket of its own; the token goes into `connection_init`, as browsers can't set
 * headers. Returns what ends it.
 */
export function subscribe(
  params: GraphqlParams,
  { dataUrl, token }: SubscribeOptions,
  listener: Listener,
): () => void {
  let report = newReport();
  const tell = (change: Partial<SubscriptionReport>) => {
    if (report.state === 'ended') return;
    report = { ...report, ...change, durationMs: performance.now() - report.startedMs };
    listener.onReport(report);
  };
  const client = createClient({
    url: dataUrl.replace(/^http/, 'ws'),
    connectionParams: async () => ({ token: await token.read(false) }),
    webSocketImpl: countingSocket((bytes) => {
      tell({ bytes: report.bytes + bytes });
    }),
    retryAttempts: 0,
    on: {
      connected: (_socket, acknowledged) => {
        tell({ state: 'open', price: priceIn(acknowledged) });
      },
    },
  });
  const stop = client.subscribe(
    { query: params.query, operationName: params.operationName, variables: variablesOf(params.variables) },
    {
      next: (result: FormattedExecutionResult) => {
        listener.onResult(result);
        const points = report.price === null ? 0 : statedPoints(result, report.price);
        tell({ messages: report.messages + 1, statedPoints: report.statedPoints + points });
      },
      error: (reason) => {
        const { errors, refusal, requestId } = endOf(reason);
        tell({ state: 'ended', refusal, requestId });
        listener.onEnd(errors);
        void client.dispose();
      },
      complete: () => {
        tell({ state: 'ended' });
        listener.onEnd(null);
        void client.dispose();
      },
    },
  );
  listener.onReport(report);
  return stop;
}

function newReport(): SubscriptionReport {
  return {
    kind: 'subscription',
    state: 'connecting',
    refusal: null,
    messages: 0,
    price: null,
    statedPoints: 0,
    bytes: 0,
    startedMs: performance.now(),
    durationMs: 0,
    requestId: null,
  };
}

function priceIn(acknowledged: Record<string, unknown> | undefined): SubscriptionPrice | null {
  const { subscription_points_per_minute: pointsPerMinute, points_extension: extension } = acknowledged ?? {};
  return typeof pointsPerMinute === 'number' && typeof extension === 'string'
    ? { pointsPerMinute, extension }
    : null;
}

function variablesOf(variables: unknown): Record<string, unknown> | null {
  return typeof variables === 'object' && variables !== null ? (variables as Record<string, unknown>) : null;
}

type End = { errors: unknown; refusal: Refusal | null; requestId: string | null };

/** Errors of the operation, or the close of the socket, whose reason begins with a code: `unauthorized: …`. */
function endOf(reason: unknown): End {
  if (Array.isArray(reason)) {
    const refusal = refusalOf(reason);
    return { errors: reason, refusal, requestId: refusal?.requestId ?? null };
  }
  const closed = typeof reason === 'object' && reason !== null && 'reason' in reason ? reason.reason : null;
  const [, code, detail] = /^([a-z_]+)(?:: (.*))?$/.exec(typeof closed === 'string' ? closed : '') ?? [];
  const message = detail ?? code ?? 'The WebSocket could not be opened, or broke off.';
  return {
    errors: [{ message, ...(code === undefined ? {} : { extensions: { code } }) }],
    refusal: code === undefined ? null : { code, message, retryAfterSec: null },
    requestId: null,
  };
}

/** The browser's WebSocket, which tells the size of each message that arrives. */
function countingSocket(onBytes: (bytes: number) => void) {
  const encoder = new TextEncoder();
  return class extends WebSocket {
    constructor(url: string | URL, protocols?: string | string[]) {
      super(url, protocols);
      this.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
        if (typeof data === 'string') onBytes(encoder.encode(data).length);
      });
    }
  };
}
