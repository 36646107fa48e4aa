import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { addressGroup, addressNetworks } from './address-group.ts';

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:DB8:1:2::9', '2001:db8:1:2::/64'],
  ['2001:0db8:0001:0002::', '2001:db8:1:2::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['2001:0:0:1:2:3:4:5', '2001:0:0:1::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['64:ff9b::203.0.113.7', '64:ff9b:0:0::/64'],
  ['', ''],
  ['unknown', 'unknown'],
])('%s is counted as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

test('addresses of one IPv6 network are counted as one, those of two networks as two', () => {
  const group = fc
    .oneof(fc.constant(0), fc.integer({ min: 0, max: 0xffff }))
    .map((value) => value.toString(16));
  const four = fc.tuple(group, group, group, group);
  // The first of all networks has the IPv4 addresses that are written as IPv6.
  const network = four.filter((groups) => groups.some((value) => value !== '0'));
  fc.assert(
    fc.property(network, network, four, four, (here, there, host, otherHost) => {
      const one = addressGroup([...here, ...host].join(':'));
      expect(addressGroup([...here, ...otherHost].join(':'))).toBe(one);
      const elsewhere = addressGroup([...there, ...host].join(':'));
      expect(elsewhere === one).toBe(here.join(':') === there.join(':'));
    }),
  );
});

test('whatever a proxy says, it is some text', () => {
  fc.assert(
    fc.property(fc.string(), (address) => {
      expect(typeof addressGroup(address)).toBe('string');
    }),
  );
});

test('an IPv6 address belongs to wider networks too, with bounds of their own', () => {
  const networks = (address: string) =>
    addressNetworks(address).map(({ network, share }) => [network, share]);
  expect(networks('2001:db8:1:2ff::9')).toEqual([
    ['2001:db8:1:2ff::/64', 1],
    ['2001:db8:1:200::/56', 2],
    ['2001:db8:1::/48', 3],
  ]);
  expect(networks('203.0.113.7')).toEqual([['203.0.113.7', 1]]);
});
