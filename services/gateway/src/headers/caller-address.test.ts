import { expect, test } from '@jest/globals';
import { callerAddress } from './caller-address.ts';
import { createTrust } from './trusted-proxies.ts';

test.each([
  ['no proxy', '203.0.113.5', '192.0.2.1', '203.0.113.5'],
  ['one trusted proxy', '10.0.0.1', '192.0.2.1', '192.0.2.1'],
  ['two of them', '::ffff:10.0.0.1', '192.0.2.1, 10.0.0.2', '192.0.2.1'],
  ['what a stranger wrote before them', '10.0.0.1', '10.0.0.9, 192.0.2.1, 10.0.0.2', '192.0.2.1'],
  ['nothing but trusted ones', '10.0.0.1', '10.0.0.3', '10.0.0.3'],
  ['no word of them', '10.0.0.1', '', '10.0.0.1'],
  ['a word that is no address', '10.0.0.1', '192.0.2.1, unknown', 'unknown'],
  ['a caller that is gone', undefined, '192.0.2.1', ''],
])('%s', (_name, remoteAddress, forwardedFor, expected) => {
  const rawHeaders = ['X-Forwarded-For', forwardedFor];
  const trusts = createTrust(['10.0.0.0/8']);
  expect(callerAddress({ rawHeaders, httpVersion: '1.1', socket: { remoteAddress } }, trusts)).toBe(expected);
});
