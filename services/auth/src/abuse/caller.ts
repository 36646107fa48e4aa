import type { Request, Response } from 'express';
import { REQUEST_ID_HEADER } from '@tollgate/log/request-id';

/** Where an attempt to authenticate comes from. */
export type Caller = {
  requestId: string;
  /** The network address that attempts are counted by: see addressGroup. */
  address: string;
};

/** The caller of a request. Its address is what trusted proxies say of it, else the connection's own. */
export function callerOf(req: Pick<Request, 'ip'>, res: Pick<Response, 'getHeader'>): Caller {
  return { requestId: String(res.getHeader(REQUEST_ID_HEADER)), address: addressGroup(req.ip ?? '') };
}

/**
 * An IPv4 address as it is, an IPv6 address as its /64: whoever has one IPv6 address has all of its network,
 * and would otherwise get a fresh count with each.
 */
export function addressGroup(address: string): string {
  const ip = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!ip.includes(':')) return ip;
  const [head = '', tail] = ip.split('::');
  const groups = head === '' ? [] : head.split(':');
  if (tail !== undefined) {
    const missing = 8 - groups.length - (tail === '' ? 0 : tail.split(':').length);
    for (let zeros = 0; zeros < missing; zeros += 1) groups.push('0');
  }
  const network = groups.slice(0, 4).map((group) => group.replace(/^0+(?=.)/, '').toLowerCase());
  return `${network.join(':')}::/64`;
}
