import type { IncomingMessage } from 'node:http';
import { Problem } from '@tollgate/http/problem';
import { fieldValues } from '@tollgate/http/request-head';

/** Against request smuggling. @throws {Problem} invalid_request for a transfer coding but `chunked`. */
export function assertSoundHead({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>): void {
  const codings = fieldValues(rawHeaders, 'transfer-encoding');
  if (codings.length > 1 || (codings[0] !== undefined && codings[0].toLowerCase() !== 'chunked')) {
    throw new Problem('invalid_request', {
      detail: 'The only transfer coding supported is chunked.',
      headers: { connection: 'close' },
    });
  }
}
