import { fieldValues } from '../request/head.ts';
import { canonicalAddress } from './canonical-address.ts';

/** The values of a request's fields that say where it came from, each field's lines joined by commas. */
export type ForwardedFields = {
  /** X-Forwarded-For. */
  forwardedFor: string | undefined;
  /** Forwarded (RFC 7239). */
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
 * The addresses that proxies say a request came from, the nearest last. X-Forwarded-For wins: a proxy that sets
 * it passes on a caller's Forwarded unread. Whatever stands before a hop that can't be read is left out: who
 * wrote it isn't known.
 */
export function forwardedHops({ forwardedFor, forwarded }: ForwardedFields): string[] {
  const hops =
    forwardedFor === undefined ? nodesOf(forwarded ?? '') : forwardedFor.split(',').filter(isGiven);
  const addresses = hops.map((hop) => (hop === undefined ? undefined : addressOf(hop)));
  return addresses.slice(addresses.lastIndexOf(undefined) + 1) as string[];
}

/** Empty elements of a list mean nothing (RFC 9110, section 5.6.1.2). */
function isGiven(element: string): boolean {
  return element.trim() !== '';
}

/** An address in brackets or an IPv4 address, each with a port or without. */
const WITH_PORT = /^(?:\[([^\]]*)\]|([\d.]+))(?::(?:\d{1,5}|_[\w.-]+))?$/;

/** The address of one hop, as load balancers write it: with a port, in brackets, in quotes. */
function addressOf(hop: string): string | undefined {
  const node = hop.trim().replace(/^"(.*)"$/, '$1');
  const [, bracketed, dotted] = WITH_PORT.exec(node) ?? [];
  return canonicalAddress(bracketed ?? dotted ?? node);
}

/** One parameter of Forwarded, up to and with what separates it from the next one. */
const PARAMETER = /[ \t]*(?:([\w!#$%&'*+.^`|~-]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*)))?[ \t]*([,;]|$)/y;

/** The `for` of each element of Forwarded; undefined where an element has none or two. Empty where it is malformed. */
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
