import { isIP } from 'node:net';
import { z } from 'zod';
import { urlFault } from '../../platform/outgoing/url-rules.ts';

/** `TEAM_SSO_ALLOWED_HOSTS`: identity providers of teams that may be where only the operator's own network leads. */
export const allowedHosts = z
  .string()
  .transform((value) => value.split(/[\s,]+/).filter((host) => host !== ''))
  .refine(
    (hosts) => hosts.every((host) => isIP(host) !== 0 || /^[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(host)),
    'must be host names or IP addresses, without a port, separated by white space',
  )
  .transform((hosts): ReadonlySet<string> => new Set(hosts.map((host) => host.toLowerCase())));

/** As a URL has it, without the brackets of an IPv6 address. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[(.*)\]$/, '$1');
}

/** Why an address of an identity provider isn't asked: the rules of webhooks. HTTP without TLS stays on the machine. */
export function addressFault(url: string, allowed: ReadonlySet<string>): string | undefined {
  const isAllowed = URL.canParse(url) && allowed.has(hostOf(url));
  const allowHttp = isAllowed && /^(127\.|::1$)/.test(hostOf(url));
  return urlFault(url, { allowHttp, allowPrivateAddresses: isAllowed });
}
