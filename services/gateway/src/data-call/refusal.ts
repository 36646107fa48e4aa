import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Problem } from '@tollgate/http/problem';
import { cutAnswer } from '@tollgate/http/cut-answer';

/**
 * Answers a call on the data endpoint with a refusal that GraphQL clients can read (GraphQL over HTTP,
 * section "Response"): `{"errors":[{"message","extensions":{"code","request_id",…}}]}`, with the problem's
 * status, headers and further extensions. It costs no points, and says so unless the problem knows better. Cuts the connection where an answer is already under way.
 */
export function sendRefusal(
  req: Pick<IncomingMessage, 'method' | 'headers'>,
  res: ServerResponse,
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

/** GraphQL's own media type where the Accept header ranks it above JSON, or names it first; else JSON. */
export function refusalMediaType(accept: string | undefined): string {
  let best = { type: JSON_TYPE, quality: 0 };
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (type !== GRAPHQL && type !== JSON_TYPE) continue;
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    const quality = weight === undefined ? 1 : Number(weight);
    if (quality > best.quality) best = { type, quality };
  }
  return best.type;
}
