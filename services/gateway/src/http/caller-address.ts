import * as address from '@tollgate/http/caller-address';
import { forwardedValues } from './forwarded-for.ts';
import type { Origin } from './forwarded-for.ts';
import type { TrustsPeer } from './trusted-proxies.ts';

/** Where a request came from, as far as trusted proxies say so. Empty where the caller is gone by now. */
export function callerAddress({ rawHeaders, socket: { remoteAddress } }: Origin, trusts: TrustsPeer): string {
  return address.callerAddress({ remoteAddress, ...forwardedValues(rawHeaders) }, (hop) =>
    trusts({ remoteAddress: hop }),
  );
}
