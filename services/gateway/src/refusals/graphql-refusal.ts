import type { HttpRequest, HttpResponse } from '@tollgate/plain-http/message';
import type { Problem } from '@tollgate/http/problem';
import { cutAnswer } from '@tollgate/http/cut-answer';
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
): void {
  if (res.headersSent) {
    cutAnswer(res);
    return;
  }
  const { code, status, detail, title, headers, extensions } = problem;
  const body = JSON.stringify({
    errors: [{ message: detail ?? title, extensions: { ...extensions, code, request_id: requestId } }],
  });
  res.writeHead(status, {
    'x-points-cost': '0',
    ...headers,
    'content-type': `${refusalMediaType(req.headers.accept)}; charset=utf-8`,
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-request-id': requestId,
  });
  res.end(req.method === 'HEAD' ? undefined : body);
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
