import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

export type UrlRules = { allowHttp: boolean; allowPrivateAddresses: boolean };

export const URL_MAX_CHARACTERS = 2_000;

/** Servers of other protocols use lower ports and could take a request for commands. */
const FIRST_FREE_PORT = 1_024;

/** Each attempt also checks the addresses that the host resolves to. */
export function urlFault(value: string, { allowHttp, allowPrivateAddresses }: UrlRules): string | undefined {
  if (value.length > URL_MAX_CHARACTERS) return `must have at most ${String(URL_MAX_CHARACTERS)} characters`;
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (url === undefined || !(url.protocol === 'https:' || (allowHttp && url.protocol === 'http:'))) {
    return allowHttp ? 'must be an https:// or http:// URL' : 'must be an https:// URL';
  }
  if (url.username !== '' || url.password !== '') return 'must not have a user or password';
  if (value.includes('#')) return 'must not have a fragment';
  const port = Number(url.port === '' ? 443 : url.port);
  if (port < FIRST_FREE_PORT && port !== 443 && port !== 80)
    return 'must have port 80, 443, or 1024 and above';
  if (allowPrivateAddresses) return undefined;
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublicAddress(host)) return 'must not have a private IP address';
  return undefined;
}

/** The URL parser has normalized IPv4 addresses. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
