import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { callerAddress, createTrust } from './caller-address.ts';
import { canonicalAddress } from './canonical-address.ts';

const trusts = createTrust(['10.0.0.0/8', '2001:db8:ffff::/48']);

function addressFrom(
  forwardedFor: string | undefined,
  { forwarded, remoteAddress = '10.0.0.1' }: { forwarded?: string; remoteAddress?: string | undefined } = {},
): string {
  return callerAddress({ remoteAddress, forwardedFor, forwarded }, trusts);
}

test.each([
  ['blanks', (length: number) => ' '.repeat(length)],
  ['blanks within', (length: number) => `for=192.0.2.1${' '.repeat(length)}x`],
  ['quotes', (length: number) => `for="${'\\"'.repeat(length)}`],
  ['separators', (length: number) => `${',;'.repeat(length)}=`],
])('a Forwarded of a million %s takes no time that grows with its square', (_name, field) => {
  expect(addressFrom(undefined, { forwarded: `${field(1_000_000)}"` })).toBe('10.0.0.1');
});

describe('an address in X-Forwarded-For', () => {
  test.each([
    ['as it is', '192.0.2.1', '192.0.2.1'],
    ['with a port, as Azure writes it', '192.0.2.1:5678', '192.0.2.1'],
    ['of IPv6', '2001:DB8:0:0::9', '2001:db8::9'],
    ['in brackets', '[2001:db8::9]', '2001:db8::9'],
    ['in brackets with a port', '[2001:db8::9]:443', '2001:db8::9'],
    ['in quotes', '"192.0.2.1:5678"', '192.0.2.1'],
    ['in quotes and brackets', '"[2001:db8::9]:443"', '2001:db8::9'],
    ['of IPv4 in IPv6’s form', '::ffff:192.0.2.1', '192.0.2.1'],
    ['of IPv4 in IPv6’s form, by hex digits', '::FFFF:c000:201', '192.0.2.1'],
    ['of IPv4 in IPv6’s form with a port', '[::ffff:192.0.2.1]:80', '192.0.2.1'],
    ['with a zone', 'fe80::1%eth0', 'fe80::1'],
    ['with a zone, in brackets', '[fe80::1%eth0]:80', 'fe80::1'],
    ['among white space', ' \t192.0.2.1 ', '192.0.2.1'],
    ['behind two trusted proxies', '192.0.2.1:5, 10.0.0.2:6', '192.0.2.1'],
    ['behind an empty element', '192.0.2.1, , 10.0.0.2,', '192.0.2.1'],
    ['after what a stranger wrote', '10.0.0.9, <script>, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
    ['a trusted one only', '10.0.0.3', '10.0.0.3'],
  ])('%s', (_name, forwardedFor, expected) => {
    expect(addressFrom(forwardedFor)).toBe(expected);
  });

  test.each([
    ['a word', 'unknown'],
    ['an obfuscated one', '_hidden'],
    ['an address with too many bytes', '1.2.3.4.5'],
    ['a number too large', '256.1.1.1'],
    ['a port that is none', '192.0.2.1:http'],
    ['an open bracket', '[2001:db8::9'],
    ['nothing', ''],
    ['a word before which a stranger wrote', '192.0.2.1, unknown'],
  ])('that can’t be read (%s): the proxy’s own', (_name, forwardedFor) => {
    expect(addressFrom(forwardedFor)).toBe('10.0.0.1');
    expect(addressFrom(`${forwardedFor}, 10.0.0.2`)).toBe('10.0.0.2');
  });
});

describe('Forwarded', () => {
  test.each([
    ['an address', 'for=192.0.2.1', '192.0.2.1'],
    ['with a port', 'for="192.0.2.1:5678"', '192.0.2.1'],
    ['of IPv6', 'For="[2001:db8::9]:4711"', '2001:db8::9'],
    ['of IPv6 without quotes', 'for=[2001:db8::9]', '2001:db8::9'],
    ['with an obfuscated port', 'for="[2001:db8::9]:_a1"', '2001:db8::9'],
    ['among other parameters', 'proto=https;for=192.0.2.1;by=10.0.0.1;host="a,b;for=c"', '192.0.2.1'],
    ['with an escaped character', 'for="192.0.2.\\1"', '192.0.2.1'],
    ['of two proxies', 'for=192.0.2.7, for=192.0.2.1;proto=http, , for=10.0.0.2', '192.0.2.1'],
    ['unknown', 'for=192.0.2.7, for=unknown', '10.0.0.1'],
    ['obfuscated', 'for=_hidden', '10.0.0.1'],
    ['without one', 'for=192.0.2.7, proto=https', '10.0.0.1'],
    ['two in one element', 'for=192.0.2.7;for=192.0.2.8', '10.0.0.1'],
    ['an open quote of a stranger', 'for="192.0.2.7, for=192.0.2.1', '10.0.0.1'],
    ['nothing', '', '10.0.0.1'],
    ['what is none', '192.0.2.1', '10.0.0.1'],
  ])('%s', (_name, forwarded, expected) => {
    expect(addressFrom(undefined, { forwarded })).toBe(expected);
  });

  test('counts only where there is no X-Forwarded-For', () => {
    expect(addressFrom('192.0.2.1', { forwarded: 'for=192.0.2.2' })).toBe('192.0.2.1');
    expect(addressFrom('', { forwarded: 'for=192.0.2.2' })).toBe('10.0.0.1');
  });
});

test.each([
  ['a stranger', '203.0.113.5', '203.0.113.5'],
  ['a stranger in IPv6’s form', '::ffff:203.0.113.5', '203.0.113.5'],
  ['a trusted proxy in IPv6’s form', '::ffff:10.0.0.1', '192.0.2.1'],
  ['a trusted proxy of IPv6', '2001:db8:ffff::1', '192.0.2.1'],
  ['a caller that is gone', undefined, ''],
])('the connection of %s', (_name, remoteAddress, expected) => {
  const fields = { forwardedFor: '192.0.2.1', forwarded: undefined };
  expect(callerAddress({ remoteAddress, ...fields }, trusts)).toBe(expected);
});

const port = fc.integer({ min: 0, max: 65_535 });
const ipv4 = fc.ipV4().filter((ip) => !ip.startsWith('10.'));
const ipv6 = fc.ipV6().filter((ip) => !trusts(ip));

/** An address in every form that a proxy may write, with the address. */
const written = fc.oneof(
  ipv4.chain((ip) =>
    fc.tuple(
      fc.oneof(
        fc.constantFrom(ip, `"${ip}"`, `::ffff:${ip}`, `[::ffff:${ip}]`, ` ${ip}\t`),
        port.map((value) => `${ip}:${String(value)}`),
        port.map((value) => `"[::FFFF:${ip}]:${String(value)}"`),
      ),
      fc.constant(ip),
    ),
  ),
  ipv6.chain((ip) =>
    fc.tuple(
      fc.oneof(
        fc.constantFrom(ip, `[${ip}]`, `"[${ip}]"`, ip.toUpperCase(), `[${ip}%25eth0]`),
        port.map((value) => `[${ip}]:${String(value)}`),
      ),
      fc.constant(canonicalAddress(ip) ?? ''),
    ),
  ),
);

describe('whatever callers send', () => {
  test('the address is one, and the same one in every form', () => {
    fc.assert(
      fc.property(written, ([text, ip]) => {
        expect(addressFrom(text)).toBe(ip);
      }),
    );
  });

  test('what a caller writes before what its proxy adds changes nothing', () => {
    fc.assert(
      fc.property(fc.string(), written, (forged, [text, ip]) => {
        expect(addressFrom(`${forged},${text}`)).toBe(ip);
      }),
    );
  });

  test('it is always an address, and of a stranger’s connection always its own', () => {
    const field = fc.option(
      fc.oneof(
        fc.string(),
        written.map(([text]) => `for=${text}`),
      ),
      { nil: undefined },
    );
    fc.assert(
      fc.property(field, field, (forwardedFor, forwarded) => {
        const fields = { forwardedFor, forwarded };
        const address = callerAddress({ remoteAddress: '10.0.0.1', ...fields }, trusts);
        expect(canonicalAddress(address)).toBe(address);
        expect(callerAddress({ remoteAddress: '203.0.113.5', ...fields }, trusts)).toBe('203.0.113.5');
      }),
    );
  });
});
