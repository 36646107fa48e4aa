import type { CostSchema } from '@tollgate/graphql-cost/cost-schema';
import { effectiveCosts } from '@tollgate/graphql-cost/effective-costs';
import { Problem } from '@tollgate/http/problem';
import type { HttpResponse } from '@tollgate/plain-http/message';
import type { Estimates } from './estimates.ts';

/** Of a schema, written once. */
const written = new WeakMap<CostSchema, string>();

/**
 * Answers with what the parts of the schema weigh, which estimates follow from.
 * @throws {Problem} not_found without a schema
 */
export function answerCosts(
  res: HttpResponse,
  { schema }: Pick<Estimates, 'schema'>,
  requestId: string,
): void {
  const current = schema();
  if (current === null) throw new Problem('not_found');
  const body = written.get(current) ?? JSON.stringify(effectiveCosts(current));
  written.set(current, body);
  res.writeHead(200, {
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
    'x-points-cost': '0',
    'x-request-id': requestId,
  });
  res.end(body);
}
