import type { IncomingMessage } from 'node:http';
import { OPERATION_NAME } from '@tollgate/contracts/refused-call';
import { queryOf } from '@tollgate/http/request-head';

/** A caller's `operationName`, if it is a GraphQL Name of ordinary length: no other text gets into a record. */
export function operationName(value: unknown): string | null {
  return typeof value === 'string' && OPERATION_NAME.test(value) ? value : null;
}

/** From the URL, of a call or an upgrade that was refused before its operations were read. */
export function operationNameOf(req: Pick<IncomingMessage, 'url'>): string | null {
  const query = queryOf(req);
  return query === '' ? null : operationName(new URLSearchParams(query).get('operationName'));
}
