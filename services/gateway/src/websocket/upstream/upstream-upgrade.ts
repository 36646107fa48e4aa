import type { IncomingMessage } from 'node:http';
import { queryOf } from '@tollgate/http/request-head';
import type { Origin } from '../../http/forwarded-for.ts';
import { callersFields, gatewayFields } from '../../pipeline/forward/request/request-fields.ts';
import type { CallerIds } from '../../pipeline/forward/request/request-fields.ts';
import { upstreamPath } from '../../pipeline/forward/request/upstream-path.ts';

export type UpgradeFacts = Origin & {
  query: string;
  clientAddress: string;
  trusted: boolean;
};

/** Credentials, and the fields of the caller's handshake (RFC 6455, section 11.3). */
const NOT_KEPT = /^(?:authorization|cookie|sec-websocket-.*)$/i;

export function upgradeFacts(
  req: IncomingMessage,
  { trusted, clientAddress }: Pick<UpgradeFacts, 'trusted' | 'clientAddress'>,
): UpgradeFacts {
  const { rawHeaders, httpVersion } = req;
  const kept: string[] = [];
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (!NOT_KEPT.test(name)) kept.push(name, rawHeaders[index + 1] ?? '');
  }
  // Without the token, which must not stay in memory or reach logs.
  const query = upstreamPath('', 'GET', queryOf(req));
  const { remoteAddress } = req.socket;
  return { rawHeaders: kept, httpVersion, query, socket: { remoteAddress }, trusted, clientAddress };
}

export function upstreamUpgrade(
  upstreamUrl: string,
  facts: UpgradeFacts,
  callerIds: CallerIds,
  requestId: string,
  /** traceparent and tracestate, as a flat list. */
  trace: string[],
) {
  const fields = [...callersFields(facts, facts.trusted), ...gatewayFields(callerIds, requestId, trace)];
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase();
    const value = fields[index + 1] ?? '';
    // Several fields of one name are one list (RFC 9110, section 5.2).
    const before = headers.get(name);
    headers.set(name, before === undefined ? value : `${before}, ${value}`);
  }
  return { url: upstreamUrl + facts.query, headers: Object.fromEntries(headers) };
}
