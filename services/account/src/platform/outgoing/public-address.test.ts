import { expect, test } from '@jest/globals';
import { BlockList } from 'node:net';
import fc from 'fast-check';
import { isPublicAddress } from './public-address.ts';

/** IANA's special-purpose address registries as of 2026-11-21, formulated a second time. */
const SPECIAL_4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const SPECIAL_6 = [
  '::/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '4000::/2',
  '8000::/1',
];

function listOf(ranges: readonly string[], family: 'ipv4' | 'ipv6'): (address: string) => boolean {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    list.addSubnet(address, Number(bits), family);
  }
  return (address) => list.check(address, family);
}
const isSpecial4 = listOf(SPECIAL_4, 'ipv4');
const isSpecial6 = listOf(SPECIAL_6, 'ipv6');

/** Many lie in special ranges, or just beside them. */
const edges = SPECIAL_4.flatMap((range) => {
  const [address = '', bits] = range.split('/');
  const first = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const last = first + 2 ** (32 - Number(bits)) - 1;
  return [first - 1, first, last, last + 1].filter((value) => value >= 0 && value < 2 ** 32);
});
const dotted = (value: number) => [24, 16, 8, 0].map((bits) => (value >>> bits) & 255).join('.');
const ipv4 = fc.oneof(fc.constantFrom(...edges), fc.nat({ max: 2 ** 32 - 1 })).map(dotted);

test('IPv4: all but the special-purpose ranges', () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      expect([address, isPublicAddress(address)]).toEqual([address, !isSpecial4(address)]);
    }),
    { numRuns: 2_000 },
  );
});

const group = fc.oneof(
  fc.constantFrom(0, 0xffff, 0x2001, 0x2002, 0x2620, 0x4f, 0x8000, 0xdb8, 0xfe80, 0x64, 0xff9b),
  fc.nat({ max: 0xffff }),
);
const ipv6 = fc
  .tuple(
    fc.constantFrom(
      0,
      0x64,
      0x100,
      0x2000,
      0x2001,
      0x2002,
      0x2606,
      0x2620,
      0x3fff,
      0x4000,
      0x5f00,
      0xfc00,
      0xfe80,
      0xff02,
    ),
    fc.array(group, { minLength: 7, maxLength: 7 }),
  )
  .map(([first, rest]) => [first, ...rest].map((each) => each.toString(16)).join(':'));

test('IPv6: none of the special-purpose ranges', () => {
  fc.assert(
    fc.property(ipv6, (address) => {
      // Refusing more than these, in unassigned blocks, does no harm.
      if (isSpecial6(address)) expect([address, isPublicAddress(address)]).toEqual([address, false]);
    }),
    { numRuns: 2_000 },
  );
  for (const address of ['2606:4700::1111', '2a00:1450:4001:81b::200e', '2001:4860:4860::8888']) {
    expect([address, isPublicAddress(address)]).toEqual([address, true]);
  }
});

test('an IPv4 address in IPv6 clothes is refused, whatever it is', () => {
  fc.assert(
    fc.property(ipv4, (address) => {
      const hex = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
      const pair = `${hex.slice(0, 2).join('')}:${hex.slice(2).join('')}`;
      for (const clothed of [
        `::ffff:${address}`,
        `::${address}`,
        `64:ff9b::${pair}`,
        `64:ff9b:1::${pair}`,
        `2002:${pair}::`,
        `2001::${pair}`,
        `::ffff:0:${pair}`,
      ]) {
        expect([clothed, isPublicAddress(clothed)]).toEqual([clothed, false]);
      }
    }),
  );
});

test.each(['', 'localhost', '1.2.3', 'example.com', '8.8.8.8/8', 'fe80::1%eth0'])(
  '%j is no public address',
  (text) => {
    expect(isPublicAddress(text)).toBe(false);
  },
);
