import type { IncomingMessage } from 'node:http';
import { forwardedFields } from '../../http/forwarded-for.ts';
import { connectionOptions, forwardsRequestField } from '../../http/forwardable.ts';
import { fieldValues } from '@tollgate/http/request-head';

/** Who a call is made by and charged to, as the upstream is told. */
export type CallerIds = { accountId: number; payerId: number; applicationId: number };

/**
 * The header fields of the request to the upstream, as a flat list: the caller's less those of
 * forwardable.ts and less its credentials, then the gateway's own. Host and Content-Length come from the
 * HTTP client. `trace` is how the call is traced further on, as a flat list.
 */
export function upstreamRequestFields(
  req: Parameters<typeof forwardedFields>[0] & Pick<IncomingMessage, 'rawHeaders'>,
  callerIds: CallerIds,
  requestId: string,
  { trusted, trace }: { trusted: boolean; trace: string[] },
): string[] {
  const { rawHeaders } = req;
  const listed = connectionOptions(fieldValues(rawHeaders, 'connection'));
  const fields: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (forwardsRequestField(name, listed) && !CREDENTIALS.has(name.toLowerCase())) {
      fields.push(name, rawHeaders[index + 1] ?? '');
    }
  }
  fields.push(...forwardedFields(req, trusted));
  // Last, and after every drop: nothing that a caller sends can take their place.
  fields.push(
    'x-account-id',
    String(callerIds.accountId),
    'x-payer-id',
    String(callerIds.payerId),
    'x-application-id',
    String(callerIds.applicationId),
    'x-request-id',
    requestId,
    ...trace,
  );
  return fields;
}

/** What opens the gateway, or the web interface beside it, is none of the upstream's business. */
const CREDENTIALS = new Set(['authorization', 'cookie']);
