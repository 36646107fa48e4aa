import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  connectionUrl,
  httpUrl,
  networks,
  processSettings,
  serviceCredentials,
  wholeNumber,
} from './settings.ts';

test('a whole number is taken exactly within its bounds', () => {
  const setting = wholeNumber(10, 1_000);
  fc.assert(
    fc.property(fc.integer({ min: -2_000, max: 2_000 }), (value) => {
      expect(setting.safeParse(String(value)).success).toBe(value >= 10 && value <= 1_000);
    }),
  );
  for (const value of ['', ' 10', '1e2', '0x10', '10.5', '+10', '١٠', '9'.repeat(400)]) {
    expect([value, setting.safeParse(value).success]).toEqual([value, false]);
  }
});

test('an http URL loses its trailing slash', () => {
  expect(httpUrl.parse('http://auth:4101/')).toBe('http://auth:4101');
  expect(httpUrl.parse('https://auth.internal/base//')).toBe('https://auth.internal/base');
});

test('an http URL with a user, a password, another scheme or no scheme is refused', () => {
  for (const value of ['http://u@h', 'http://u:p@h', 'http://:p@h', 'ftp://h', 'auth:4101', 'auth', '//h']) {
    expect([value, httpUrl.safeParse(value).success]).toEqual([value, false]);
  }
});

test('a connection URL has one of the schemes', () => {
  const setting = connectionUrl('postgres:', 'postgresql:');
  expect(setting.parse('postgresql://:password@host:5433/db')).toBe('postgresql://:password@host:5433/db');
  expect(setting.safeParse('http://host').error?.issues[0]?.message).toBe(
    'must be a URL that starts with postgres:// or postgresql://',
  );
});

test('service credentials are read as pairs; an id may come twice, a secret may hold colons', () => {
  const value = 'gateway:first-secret-of-16 \n gateway:second:secret:of:16\taccount:third-secret-of-16';
  expect(serviceCredentials.parse(value)).toEqual([
    { id: 'gateway', secret: 'first-secret-of-16' },
    { id: 'gateway', secret: 'second:secret:of:16' },
    { id: 'account', secret: 'third-secret-of-16' },
  ]);
});

test('service credentials without an id, with a short secret or none at all are refused', () => {
  for (const value of [
    '',
    'gateway',
    ':first-secret-of-16',
    'gateway:short',
    'a:first-secret-of-16 b:short',
  ]) {
    expect([value, serviceCredentials.safeParse(value).success]).toEqual([value, false]);
  }
});

test('networks are addresses or CIDR networks of both families; nothing that means "everybody"', () => {
  expect(networks.parse(' 10.0.0.0/8\t192.0.2.1  2001:db8::/32 ::1 ')).toEqual([
    '10.0.0.0/8',
    '192.0.2.1',
    '2001:db8::/32',
    '::1',
  ]);
  expect(networks.parse('')).toEqual([]);
  for (const value of [
    '0.0.0.0/0',
    '10.0.0.0/33',
    '::/129',
    'loopback',
    '10.0.0',
    'fe80::1%eth0',
    '1.2.3.4/',
  ]) {
    expect([value, networks.safeParse(value).success]).toEqual([value, false]);
  }
});

const { STRICT_TRANSPORT_SECURITY } = processSettings;

test.each([
  [undefined, { maxAge: 31_536_000, includeSubDomains: false, preload: false }],
  ['off', false],
  ['max-age=0', { maxAge: 0, includeSubDomains: false, preload: false }],
  ['max-age=600; includeSubDomains', { maxAge: 600, includeSubDomains: true, preload: false }],
  ['max-age=600;includesubdomains; preload', { maxAge: 600, includeSubDomains: true, preload: true }],
])('STRICT_TRANSPORT_SECURITY %j', (value, expected) => {
  expect(STRICT_TRANSPORT_SECURITY.parse(value)).toEqual(expected);
});

test.each([
  'on',
  'false',
  '31536000',
  'max-age=',
  'max-age=-1',
  'max-age=600; preload',
  'includeSubDomains',
  'max-age=1; x',
])('STRICT_TRANSPORT_SECURITY=%s is refused', (value) => {
  expect(STRICT_TRANSPORT_SECURITY.safeParse(value).success).toBe(false);
});
