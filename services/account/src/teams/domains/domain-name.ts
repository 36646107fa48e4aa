import { domainToASCII, domainToUnicode } from 'node:url';
import { parse } from 'tldts';
import { emailAddressOf } from '../../mail/email-address.ts';
import { MAIL_PROVIDERS } from './mail-providers.ts';

/** Scripts that are written together (UTS 39, section 5.1); others in one label look like an imitation. */
const TOGETHER = [
  /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Common}\p{Script=Inherited}]+$/u,
  /^[\p{Script=Han}\p{Script=Hangul}\p{Script=Common}\p{Script=Inherited}]+$/u,
  /^[\p{Script=Han}\p{Script=Bopomofo}\p{Script=Common}\p{Script=Inherited}]+$/u,
];

/**
 * A domain as it is stored and compared: in lower case, with A-labels. `fault` says why a team can't have it.
 */
export function teamDomainOf(typed: string): { domain: string } | { fault: string } {
  const domain = domainToASCII(typed.trim().replace(/\.$/, '')).toLowerCase();
  if (emailAddressOf(`postmaster@${domain}`) === undefined) {
    return { fault: 'must be a domain such as example.com' };
  }
  if (!domain.split('.').every(isOfOneScript)) return { fault: 'mixes scripts in one label' };
  const { domain: registrable, isIp } = parse(domain, { allowPrivateDomains: true });
  if (registrable === null || isIp === true) {
    return { fault: 'is a public suffix, under which others register their domains' };
  }
  if (MAIL_PROVIDERS.has(registrable)) return { fault: 'belongs to a mail provider' };
  return { domain };
}

/** The challenge's own label, and the value that is expected there. */
export function challengeRecord({ domain, challenge }: { domain: string; challenge: string }) {
  const host = '_tollgate-challenge';
  return {
    type: 'TXT' as const,
    host,
    name: `${host}.${domain}`,
    value: `tollgate-domain-verification=${challenge}`,
  };
}

function isOfOneScript(label: string): boolean {
  if (!label.startsWith('xn--')) return true;
  const shown = domainToUnicode(label);
  // One that can't be decoded, or is another label's second spelling.
  if (shown === '' || shown.startsWith('xn--') || domainToASCII(shown) !== label) return false;
  if (TOGETHER.some((together) => together.test(shown))) return true;
  const letters = Array.from(shown).filter((letter) => /\p{L}/u.test(letter));
  return ALONE.some((script) => letters.every((letter) => script.test(letter)));
}

const ALONE = [
  'Latin',
  'Cyrillic',
  'Greek',
  'Arabic',
  'Hebrew',
  'Devanagari',
  'Bengali',
  'Gujarati',
  'Gurmukhi',
  'Tamil',
  'Telugu',
  'Kannada',
  'Malayalam',
  'Sinhala',
  'Thai',
  'Lao',
  'Khmer',
  'Myanmar',
  'Georgian',
  'Armenian',
  'Ethiopic',
].map((script) => new RegExp(`^\\p{Script=${script}}$`, 'u'));
