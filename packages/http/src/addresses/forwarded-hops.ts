import { fieldValues } from '../request-head.ts';
import { canonicalAddress } from './canonical-address.ts';

/** X-Forwarded-For and Forwarded (RFC 7239), each field's lines joined by commas. */
export type ForwardedFields = {
  forwardedFor: string | undefined;
  forwarded: string | undefined;
};

export function forwardedFieldsOf(rawHeaders: readonly string[]): ForwardedFields {
  const joined = (name: string) => {
    const lines = fieldValues(rawHeaders, name);
    return lines.length === 0 ? undefined : lines.join(',');
  };
  return { forwardedFor: joined('x-forwarded-for'), forwarded: joined('forwarded') };
}

/**
 * The addresses of the hops before a proxy, the nearest last. X-Forwarded-For wins: a proxy that sets it passes on a
 * caller's Forwarded. An unreadable hop, and all before it, is left out, since no trusted proxy vouches for it.
 */
export function forwardedHops({ forwardedFor, forwarded }: ForwardedFields): string[] {
  const hops =
    forwardedFor === undefined ? nodesOf(forwarded ?? '') : forwardedFor.split(',').filter(isGiven);
  const addresses = hops.map((hop) => (hop === undefined ? undefined : addressOf(hop)));
  return addresses.slice(addresses.lastIndexOf(undefined) + 1) as string[];
}

/** Empty list elements are ignored (RFC 9110, section 5.6.1.2). */
function isGiven(element: string): boolean {
  return element.trim() !== '';
}

const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/;

/** Load balancers write addresses with a port, in brackets or in quotes. */
function addressOf(hop: string): string | undefined {
  const node = hop.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed, dotted] = WITH_PORT.exec(node) ?? [];
  return canonicalAddress(bracketed ?? dotted ?? node);
}

const PARAMETER = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))[ \t]*)?([,;]|$)/y;

/** Each element's `for`; undefined if it has none or two. Empty if Forwarded is malformed. */
function nodesOf(forwarded: string): (string | undefined)[] {
  const nodes: (string | undefined)[] = [];
  let element = { parameters: 0, nodes: [] as string[] };
  for (PARAMETER.lastIndex = 0; ;) {
    const found = PARAMETER.exec(forwarded);
    if (found === null) return [];
    const [, name, quoted, token = '', separator] = found;
    if (name !== undefined) element.parameters += 1;
    if (name?.toLowerCase() === 'for') element.nodes.push(quoted?.replaceAll(/\\(.)/g, '$1') ?? token);
    if (separator === ';') continue;
    if (element.parameters > 0) nodes.push(element.nodes.length === 1 ? element.nodes[0] : undefined);
    if (separator === '') return nodes;
    element = { parameters: 0, nodes: [] };
  }
}
