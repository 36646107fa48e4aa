import { isIP } from 'node:net';
import { isPublicAddress } from '../../platform/outgoing/public-address.ts';

export type UrlRules = { allowHttp: boolean; allowPrivateAddresses: boolean };

export const URL_MAX_CHARACTERS = 2_000;

/** Servers of other protocols use lower ports and could take a request for commands. */
const FIRST_FREE_PORT = 1_024;

const AND = new Intl.ListFormat('en');

/**
 * All that is wrong with a URL, and what is accepted instead. Each attempt also checks the addresses that the host
 * resolves to.
 */
export function urlFault(value: string, rules: UrlRules): string | undefined {
  if (value.length > URL_MAX_CHARACTERS) return `must have at most ${String(URL_MAX_CHARACTERS)} characters`;
  const wanted = `must be ${wantedUrl(rules)}`;
  if (!URL.canParse(value)) return `${wanted}, such as https://hooks.example.com/tollgate`;
  const faults = faultsOf(new URL(value), value.includes('#'), rules);
  return faults.length === 0 ? undefined : `${wanted}. This one ${AND.format(faults)}`;
}

function wantedUrl({ allowHttp, allowPrivateAddresses }: UrlRules): string {
  const url = allowHttp ? 'an https:// or http:// URL' : 'an https:// URL';
  const server = allowPrivateAddresses ? '' : ' of a public server';
  return `${url}${server} with port 443, 80, or ${String(FIRST_FREE_PORT)} and above`;
}

/** An empty fragment is one, too, and the URL parser drops it. */
function faultsOf(url: URL, hasFragment: boolean, { allowHttp, allowPrivateAddresses }: UrlRules): string[] {
  const faults: string[] = [];
  const isHttp = url.protocol === 'http:';
  if (url.protocol !== 'https:' && !(isHttp && allowHttp)) faults.push(`starts with ${url.protocol}//`);
  if (url.username !== '' || url.password !== '') faults.push('has a user or password');
  if (hasFragment) faults.push('has a fragment (#)');
  const port = Number(url.port);
  // The parser leaves out the scheme's own port.
  if (url.port !== '' && port < FIRST_FREE_PORT && port !== 443 && port !== 80)
    faults.push(`uses port ${url.port}`);
  if (allowPrivateAddresses) return faults;
  const host = hostOf(url);
  if (isIP(host) !== 0 && !isPublicAddress(host)) faults.push('has a private IP address');
  if (LOCALHOST.test(host)) faults.push('is on your own machine');
  return faults;
}

/** RFC 6761, section 6.3: these names never leave the machine. */
const LOCALHOST = /(^|\.)localhost\.?$/;

/** The URL parser has normalized IPv4 addresses. */
function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}
