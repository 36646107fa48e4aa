import type { IncomingMessage } from 'node:http';
import { fieldValues } from './request-head.ts';

/** What is needed of a request to say where it came from. */
export type Origin = Pick<IncomingMessage, 'httpVersion' | 'rawHeaders'> & {
  socket: { remoteAddress?: string | undefined };
};

/**
 * X-Forwarded-For, -Proto, -Host and Via (RFC 9110, section 7.6.3) of a request that goes on, as a flat list.
 * The gateway is the edge: what a caller says of earlier hops is dropped, except Via, which names proxies
 * and no people.
 */
export function forwardedFields(req: Origin): string[] {
  const fields = ['x-forwarded-proto', 'http'];
  const address = req.socket.remoteAddress?.replace(/^::ffff:/, '');
  if (address !== undefined) fields.push('x-forwarded-for', address);
  const host = fieldValues(req.rawHeaders, 'host')[0];
  if (host !== undefined) fields.push('x-forwarded-host', host);
  const via = fieldValues(req.rawHeaders, 'via');
  fields.push('via', [...via, `${req.httpVersion} tollgate`].join(', '));
  return fields;
}

/** A W3C traceparent that starts a trace: the request id is the trace id, its first half names the one span. */
export function traceparent(requestId: string): string {
  // The flags are 00: the gateway itself records no trace, so it doesn't ask others to keep theirs.
  return `00-${requestId}-${requestId.slice(0, 16)}-00`;
}
