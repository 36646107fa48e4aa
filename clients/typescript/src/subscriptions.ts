import { createClient as createSocketClient } from 'graphql-ws/client';
import type { Client as SocketClient } from 'graphql-ws/client';
import { ConnectionError, RateLimitError, TollgateError, UnavailableError } from './errors.ts';
import type { GraphQLErrorLike } from './errors.ts';
import { errorOfClose, errorOfRefusal, graphqlErrors, objectOf } from './read-errors.ts';
import type { Tokens } from './tokens.ts';
import { delay } from './waiting.ts';

/** Results between these times may be missing; `reason` is a code of docs/errors.md, or `connection_failed`. */
export type Gap = { from: Date; to: Date; reason: string };

export type SubscriptionEvent<Data> =
  | { gap: Gap; data?: undefined; errors?: undefined }
  | { gap?: undefined; data: Data | null; errors?: GraphQLErrorLike[]; extensions?: Record<string, unknown> };

type Subscription = { query: string; variables: Record<string, unknown>; operationName: string | undefined };

/** A second 4401 within this time, without a result in between, is final. */
const FRESH_TOKEN_MS = 60_000;
const KEEP_ALIVE_MS = 15_000;
const PONG_TIMEOUT_MS = 10_000;
/** Events that the caller hasn't taken yet. */
const MAX_WAITING_EVENTS = 10_000;
/** More than 5 s, so that the clients of a gateway that restarts come back spread over that time. */
const RECONNECT_SPREAD_MS = 6_000;
const MAX_RECONNECT_SPREAD_MS = 60_000;

/** Full jitter, doubled with each attempt. */
export const reconnectDelayMs = (retries: number) =>
  Math.random() * Math.min(RECONNECT_SPREAD_MS * 2 ** retries, MAX_RECONNECT_SPREAD_MS);

/** A subscription, whichever socket carries it. It is live once one has. */
type Open = { isLive: boolean; push: (event: { gap: Gap }) => void };

/** All subscriptions of a client share one WebSocket, which is open while there are any. */
export function createSubscriptions(url: string, tokens: Tokens, webSocket: unknown, retryAttempts: number) {
  const open = new Set<Open>();
  let isConnected = false;
  let lastHeard = new Date();
  /** Since the last socket was lost. */
  let lost: Omit<Gap, 'to'> | undefined;
  let token = '';
  /** The last subscription has ended, so this side closes the socket. */
  let isLeft = false;
  let wasClosedNormally = false;
  let pongTimer: ReturnType<typeof setTimeout> | undefined;

  function connected(): void {
    isConnected = true;
    isLeft = false;
    lastHeard = new Date();
    for (const each of open) {
      if (lost !== undefined && each.isLive) each.push({ gap: { ...lost, to: lastHeard } });
      each.isLive = true;
    }
    lost = undefined;
  }

  function closed(event: unknown): void {
    isConnected = false;
    clearTimeout(pongTimer);
    const { code, reason } = closeOf(event);
    wasClosedNormally = code === 1000 && open.size > 0 && !isLeft;
    isLeft = false;
    lost ??= { from: lastHeard, reason: errorOfClose(code, reason).code };
  }

  let client: SocketClient | undefined;

  function socketClient(): SocketClient {
    if (typeof webSocket !== 'function')
      throw new TypeError('There is no WebSocket here: give `webSocket`, such as the class of ws.');
    client ??= createSocketClient({
      // graphql-ws connects again at once after a normal closure.
      url: async () => {
        if (wasClosedNormally) await delay(reconnectDelayMs(0));
        return url;
      },
      webSocketImpl: webSocket,
      connectionParams: async () => {
        token = await tokens.get();
        return { Authorization: `Bearer ${token}` };
      },
      retryAttempts,
      retryWait: (retries) => delay(reconnectDelayMs(retries)),
      shouldRetry: isPassing,
      keepAlive: KEEP_ALIVE_MS,
      on: {
        connected,
        closed,
        message: () => (lastHeard = new Date()),
        ping: (isReceived) => {
          if (!isReceived) pongTimer = setTimeout(() => client?.terminate(), PONG_TIMEOUT_MS);
        },
        pong: () => {
          clearTimeout(pongTimer);
        },
      },
    });
    return client;
  }

  async function* subscribe<Data>(
    payload: Subscription,
    signal?: AbortSignal,
  ): AsyncGenerator<SubscriptionEvent<Data>, void> {
    signal?.throwIfAborted();
    const events: SubscriptionEvent<Data>[] = [];
    let ended: { error?: unknown } | undefined;
    let wake = () => {};
    let refreshedMs = -Infinity;

    const end = (error?: unknown) => {
      ended ??= { error };
      wake();
    };
    const push = (event: SubscriptionEvent<Data>) => {
      // Nothing is kept after the end, or a slow caller would never reach it.
      if (ended !== undefined) return;
      if (events.push(event) <= MAX_WAITING_EVENTS) wake();
      else end(new ConnectionError({ code: 'too_many_events', message: 'Events are not read fast enough.' }));
    };
    const fail = (failure: unknown) => {
      const isFirst = performance.now() - refreshedMs >= FRESH_TOKEN_MS;
      if (closeOf(failure).code === 4401 && isFirst) {
        refreshedMs = performance.now();
        tokens.refuse(token);
        stop = begin();
      } else end(errorOf(failure));
    };
    const next = (result: unknown) => {
      refreshedMs = -Infinity;
      own.isLive = true;
      push(result as SubscriptionEvent<Data>);
    };
    const begin = () => socketClient().subscribe(payload, { next, error: fail, complete: end });
    const abort = () => {
      end(signal?.reason);
    };

    const own: Open = { isLive: isConnected && !isLeft, push };
    open.add(own);
    let stop = begin();
    signal?.addEventListener('abort', abort);
    try {
      while (ended === undefined || events.length > 0) {
        yield* events.splice(0);
        // Nothing has come while the caller had the last ones.
        if (ended === undefined && events.length === 0)
          await new Promise<void>((resolve) => (wake = resolve));
      }
      if (ended.error !== undefined) throw ended.error as Error;
    } finally {
      signal?.removeEventListener('abort', abort);
      open.delete(own);
      isLeft = open.size === 0 && isConnected;
      stop();
    }
  }

  return { subscribe, close: async () => client?.dispose() };
}

/** Another attempt may succeed. */
function isPassing(failure: unknown): boolean {
  if (failure instanceof RateLimitError || failure instanceof UnavailableError) return true;
  if (failure instanceof TollgateError) return ['connection_failed', 'timeout'].includes(failure.code);
  // Of applications' close codes, those of timeouts: 4408 is the server's, 4499 of a pong that didn't come.
  const { code } = closeOf(failure);
  return code < 4_000 || code === 4408 || code === 4499;
}

/** Without a close, the connection was cut. */
function closeOf(value: unknown): { code: number; reason: string } {
  const { code, reason } = objectOf(value);
  const isClose = typeof code === 'number' && typeof reason === 'string';
  return isClose ? { code, reason } : { code: 1006, reason: '' };
}

/** Of what graphql-ws reports: errors of the operation, a closed connection, one that failed, an error of ours. */
function errorOf(failure: unknown): TollgateError {
  if (failure instanceof TollgateError) return failure;
  const [first] = graphqlErrors(failure);
  if (first !== undefined) return errorOfRefusal(first);
  const message = 'The connection failed.';
  if (failure instanceof Error)
    return new ConnectionError({ code: 'connection_failed', message, cause: failure });
  const { code, reason } = closeOf(failure);
  return errorOfClose(code, reason);
}
