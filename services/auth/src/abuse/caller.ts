import type { IncomingMessage } from 'node:http';
import proxyAddr from 'proxy-addr';
import { addressGroup } from '@tollgate/address-group';

/** Where an attempt to authenticate comes from. */
export type Caller = {
  requestId: string;
  /** Where it came from, as the audit log is told; `unknown` where the caller is gone by now. */
  address: string;
  /** What attempts are counted by: see @tollgate/address-group. */
  addressGroup: string;
};

export type CallerOf = (req: IncomingMessage, requestId: string) => Caller;

/**
 * The caller of a request. Its address is what trusted proxies say of it (X-Forwarded-For, as Express' `req.ip`
 * reads it, by the same library), else the connection's own.
 */
export function createCallerOf(trustedProxies: readonly string[]): CallerOf {
  const trusted = proxyAddr.compile([...trustedProxies]);
  return (req, requestId) => {
    const address = addressOf(req, trusted);
    return { requestId, address: address === '' ? 'unknown' : address, addressGroup: addressGroup(address) };
  };
}

function addressOf(req: IncomingMessage, trusted: (address: string, hop: number) => boolean): string {
  // A caller that is gone by now has no address.
  if (req.socket.remoteAddress === undefined) return '';
  return req.headers['x-forwarded-for'] === undefined ? req.socket.remoteAddress : proxyAddr(req, trusted);
}
