import type { IncomingMessage } from 'node:http';
import { forwardedFields } from '../../../http/forwarded-for.ts';
import { connectionOptions, forwardsRequestField } from '../../../http/forwardable.ts';
import { fieldValues } from '@tollgate/http/request-head';
import type { Principal } from '../../../ledger/principal.ts';

export type CallerIds = { accountId: number; payerId: number; applicationId: number };

export function callerIds({ token, payer }: Principal): CallerIds {
  return { accountId: token.account_id, payerId: payer.payerId, applicationId: token.application_id };
}

type Caller = Parameters<typeof forwardedFields>[0] & Pick<IncomingMessage, 'rawHeaders'>;

/**
 * The header fields of the request to the upstream that are alike for all requests with one head from one address, as
 * a flat list: the caller's that may pass, then those that tell where it came from. The pool adds Host.
 */
export function callersFields(req: Caller, trusted: boolean): string[] {
  const { rawHeaders } = req;
  const listed = connectionOptions(fieldValues(rawHeaders, 'connection'));
  const fields: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (forwardsRequestField(name, listed) && !NOT_PASSED.has(name.toLowerCase())) {
      fields.push(name, rawHeaders[index + 1] ?? '');
    }
  }
  fields.push(...forwardedFields(req, trusted));
  return fields;
}

/** The gateway's own, as a flat list. None of the caller's takes their place. `trace` holds the trace context's fields. */
export function gatewayFields(callerIds: CallerIds, requestId: string, trace: readonly string[]): string[] {
  return [
    'x-account-id',
    String(callerIds.accountId),
    'x-payer-id',
    String(callerIds.payerId),
    'x-application-id',
    String(callerIds.applicationId),
    'x-request-id',
    requestId,
    ...trace,
  ];
}

/** Credentials open the gateway and the web interface. A coded body is decoded where calls are read. */
const NOT_PASSED = new Set(['authorization', 'cookie', 'content-encoding']);
