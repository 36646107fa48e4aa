import { domainToASCII } from 'node:url';

/** A Dot-string (RFC 5321, section 4.1.2), of at most 64 octets. */
const LOCAL_PART = /^(?=.{1,64}$)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

/** Labels of letters, digits and inner hyphens; the last one has letters, or is an A-label (RFC 5890). */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/i;

/** Excludes characters that a URL parser takes for the end of a host, or for an escape. */
const BEYOND_ASCII = /^[a-z0-9.\-\u{80}-\u{10ffff}]+$/iu;

/** Undefined if invalid. A local part beyond ASCII is refused: every server would need SMTPUTF8 (RFC 6531). */
export function emailAddressOf(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const [localPart, typed] = [text.slice(0, at), text.slice(at + 1)];
  if (at === -1 || !LOCAL_PART.test(localPart) || !BEYOND_ASCII.test(typed)) return undefined;
  const domain = /^[\x21-\x7e]+$/.test(typed) ? typed : domainToASCII(typed);
  return DOMAIN.test(domain) ? `${localPart}@${domain}` : undefined;
}
