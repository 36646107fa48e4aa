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

export type PostOptions = { dataUrl: string; token: TokenSource; signal: AbortSignal };

type Posted = { result: unknown; report: CallReport };

/**
 * Sends a query or mutation. A refused token is renewed once: it changes every 12 hours.
 *
 * @throws the failure to reach the data endpoint, or to get a token.
 */
export async function post(params: GraphqlParams, options: PostOptions): Promise<Posted> {
  const first = await postOnce(params, options, false);
  return first.report.refusal?.code === 'unauthorized' ? postOnce(params, options, true) : first;
}

async function postOnce(params: GraphqlParams, options: PostOptions, renew: boolean): Promise<Posted> {
  const { dataUrl, token, signal } = options;
  const authorization = `Bearer ${await token.read(renew)}`;
  const startedMs = performance.now();
  const response = await fetch(dataUrl, {
    method: 'POST',
    headers: {
      authorization,
      'content-type': 'application/json',
      accept: 'application/graphql-response+json, application/json',
    },
    body: JSON.stringify(params),
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
