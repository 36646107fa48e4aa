import { isIP } from 'node:net';
import { fieldValues } from './request-head.ts';
import type { Origin } from './forwarded-for.ts';
import type { TrustsPeer } from './trusted-proxies.ts';

/**
 * Where a request came from: the nearest hop that is no trusted proxy, as far as trusted ones say so
 * (X-Forwarded-For, read from its end). Empty where the caller is gone by now.
 */
export function callerAddress({ rawHeaders, socket }: Origin, trusts: TrustsPeer): string {
  const hops = fieldValues(rawHeaders, 'x-forwarded-for')
    .join(',')
    .split(',')
    .map((hop) => hop.trim())
    .filter((hop) => hop !== '');
  let address = socket.remoteAddress ?? '';
  while (isIP(address) !== 0 && trusts({ remoteAddress: address })) {
    const earlier = hops.pop();
    if (earlier === undefined) break;
    address = earlier;
  }
  return address;
}
