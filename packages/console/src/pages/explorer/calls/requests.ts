import { numberIn, rateIn, refusalOf } from './report.ts';
import type { CallReport } from './report.ts';

export type GraphqlParams = {
  query: string;
  operationName?: string | null | undefined;
  variables?: unknown;
};

/** A token for calls. */
export type TokenSource = {
  /** The same for the same token; not the token itself. */
  id: string;
  /** `renew` when the last one was refused. */
  read: (renew: boolean) => Promise<string>;
};

export type RequestOptions = { dataUrl: string; token: TokenSource; signal: AbortSignal };

type Answered = { result: unknown; report: CallReport };

/**
 * Sends a query or mutation. A refused token is renewed once: it changes every 12 hours.
 *
 * @throws the failure to reach the data endpoint, or to get a token.
 */
export function post(params: GraphqlParams, options: RequestOptions): Promise<Answered> {
  const body = JSON.stringify(params);
  return send({ method: 'POST', headers: { 'content-type': 'application/json' }, body }, options);
}

/** Asks without running anything. As `post`. */
export function get(options: RequestOptions): Promise<Answered> {
  return send({ method: 'GET' }, options);
}

type Sent = { method: string; headers?: Readonly<Record<string, string>>; body?: string };

async function send(request: Sent, options: RequestOptions): Promise<Answered> {
  const first = await sendOnce(request, options, false);
  return first.report.refusal?.code === 'unauthorized' ? sendOnce(request, options, true) : first;
}

async function sendOnce(request: Sent, options: RequestOptions, renew: boolean): Promise<Answered> {
  const { dataUrl, token, signal } = options;
  const authorization = `Bearer ${await token.read(renew)}`;
  const startedMs = performance.now();
  const response = await fetch(dataUrl, {
    ...request,
    headers: {
      ...request.headers,
      authorization,
      accept: 'application/graphql-response+json, application/json',
    },
    // The session's cookie is none of the data endpoint's business.
    credentials: 'omit',
    signal,
  });
  const body = await response.arrayBuffer();
  const durationMs = performance.now() - startedMs;
  const result = parse(new TextDecoder().decode(body));
  return { result, report: reportOf(response, result, { durationMs, bytes: body.byteLength }) };
}

/** What was sent instead of JSON is shown as it is. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { errors: [{ message: 'The response is not JSON.', extensions: { body: text } }] };
  }
}

function reportOf(
  response: Response,
  result: unknown,
  measured: Pick<CallReport, 'durationMs' | 'bytes'>,
): CallReport {
  const { headers, status } = response;
  // With Proxy-Status, the error is the data API's own.
  const isOfUpstream = headers.has('proxy-status');
  const errors = typeof result === 'object' && result !== null && 'errors' in result ? result.errors : null;
  const found = response.ok || isOfUpstream ? null : refusalOf(errors);
  return {
    kind: 'call',
    status,
    refusal: found && { ...found, retryAfterSec: found.retryAfterSec ?? numberIn(headers, 'retry-after') },
    ...measured,
    requestId: headers.get('x-request-id'),
    pointsCost: numberIn(headers, 'x-points-cost'),
    pointsEstimate: numberIn(headers, 'x-points-estimate'),
    pointsRemaining: numberIn(headers, 'x-points-remaining'),
    rate: rateIn(headers),
  };
}
