import { isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

/** What a webhook's address may be, as the operator has decided. */
export type UrlRules = { allowHttp: boolean; allowPrivateAddresses: boolean };

export const URL_MAX_CHARACTERS = 2_000;

/** Below, ports belong to other protocols' servers, which must not be sent what they could take for a command. */
const FIRST_FREE_PORT = 1_024;

/** What is wrong with a webhook's address; undefined where nothing is. Where its name leads is seen at each attempt. */
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
    return 'must have the port 80, 443 or one from 1024 on';
  if (allowPrivateAddresses) return undefined;
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublicAddress(host)) return 'must not have an address that is not public';
  return undefined;
}

/** The host without the brackets of an IPv6 address. The parser has made all other writings of an IPv4 address one. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
