import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import type { Problem } from '@tollgate/http/problem';
import { cutAnswer } from '@tollgate/http/cut-answer';
import { graphqlErrorOfCall } from '../http/graphql-error.ts';
import { mediaRanges } from './media-ranges.ts';

/**
 * Refuses a data call with a GraphQL error (GraphQL over HTTP, section "Response"):
 * `{"errors":[{"message","extensions":{"code","request_id",…}}]}`, with the problem's status, headers and extensions,
 * and without points. Cuts the connection if a response is already under way.
 */
export function sendRefusal(
  req: Pick<HttpRequest, 'method' | 'headers'>,
  res: HttpResponse,
  problem: Problem,
  requestId: string,
  /** The gateway's own that are known of the call. */
  fields: Readonly<Record<string, string>> = {},
): void {
  if (res.headersSent) {
    cutAnswer(res);
    return;
  }
  const body = JSON.stringify({ errors: [graphqlErrorOfCall(problem, requestId)] });
  const mediaType = refusalMediaType(req.headers.accept);
  res.writeHead(statusOf(problem, mediaType), {
    'x-points-cost': '0',
    ...fields,
    ...problem.headers,
    'content-type': `${mediaType}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-request-id': requestId,
  });
  res.end(req.method === 'HEAD' ? undefined : body);
}

/** A document that can't be parsed is no failed request for clients that accept JSON only (GraphQL over HTTP). */
function statusOf({ code, status }: Problem, mediaType: string): number {
  return code === 'document_invalid' && mediaType === JSON_TYPE ? 200 : status;
}

const GRAPHQL = 'application/graphql-response+json';
const JSON_TYPE = 'application/json';

/** GraphQL's media type if the Accept header ranks it above JSON or names it first; otherwise JSON. */
export function refusalMediaType(accept: string | undefined): string {
  let best = { type: JSON_TYPE, quality: 0 };
  for (const { type, quality } of mediaRanges(accept ?? '')) {
    if (type !== GRAPHQL && type !== JSON_TYPE) continue;
    if (quality > best.quality) best = { type, quality };
  }
  return best.type;
}
