import type { IncomingMessage } from 'node:http';
import { forwardedFields } from '../../http/forwarded-for.ts';
import { connectionOptions, forwardsRequestField } from '../../http/forwardable.ts';
import { fieldValues } from '@tollgate/http/request-head';

export type CallerIds = { accountId: number; payerId: number; applicationId: number };

/**
 * The header fields of the request to the upstream, as a flat list: the caller's that may pass, then the gateway's.
 * undici adds Host. `trace` holds the trace context's fields.
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
  // After every drop, so that no caller's field takes their place.
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

/** They open the gateway and the web interface. */
const CREDENTIALS = new Set(['authorization', 'cookie']);
