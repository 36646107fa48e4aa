import { domainToASCII } from 'node:url';

/** RFC 5321, section 4.1.2: a Dot-string of the characters that an atom may have, of at most 64 octets. */
const LOCAL_PART = /^(?=.{1,64}$)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;

/** Labels of letters, digits and inner hyphens; the last one has letters, or is one beyond ASCII (RFC 5890). */
const DOMAIN = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,59})$/i;

/** What a URL parser would take for the end of a name, or for an escape, is none here. */
const BEYOND_ASCII = /^[a-z0-9.\-\u{80}-\u{10ffff}]+$/iu;

/**
 * An e-mail address as it is kept and sent to, or undefined where it is none. A domain beyond ASCII becomes its
 * ASCII form (IDNA), which every mail server knows. A local part beyond ASCII would need SMTPUTF8 (RFC 6531) of
 * every server on the way, and is refused.
 */
export function emailAddressOf(text: string): string | undefined {
  const at = text.lastIndexOf('@');
  const [localPart, typed] = [text.slice(0, at), text.slice(at + 1)];
  if (at === -1 || !LOCAL_PART.test(localPart) || !BEYOND_ASCII.test(typed)) return undefined;
  // ASCII stays as it was typed.
  const domain = /^[\x21-\x7e]+$/.test(typed) ? typed : domainToASCII(typed);
  return DOMAIN.test(domain) ? `${localPart}@${domain}` : undefined;
}
