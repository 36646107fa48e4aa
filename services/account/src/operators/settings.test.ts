import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { checkOidc, checkOperatorsUrl, oidcGroups, oidcIssuer, operatorsUrl } from './settings.ts';

test.each([
  ['a=viewer', { a: 'viewer' }],
  ['Tollgate Admins = admin,\n help=support', { 'Tollgate Admins': 'admin', help: 'support' }],
  ['cn=ops%2Cdc=example=admin, 100%25=finance', { 'cn=ops,dc=example': 'admin', '100%': 'finance' }],
])('groups of %j', (value, expected) => {
  expect(Object.fromEntries(oidcGroups.parse(value))).toEqual(expected);
});

test.each(['a', 'a=owner', '=admin', '*=admin', '%2A=admin', 'a=admin,a=viewer', 'a%=admin'])(
  'not the groups %j',
  (value) => {
    expect(oidcGroups.safeParse(value).success).toBe(false);
  },
);

test.each([
  ['https://id.example.com', true],
  ['https://id.example.com/tenant/v2.0', true],
  ['http://localhost:4000', true],
  ['http://id.example.com', false],
  ['https://id.example.com?x=1', false],
  ['https://u:p@id.example.com', false],
  ['id.example.com', false],
])('the issuer %s: %s', (value, is) => {
  expect(oidcIssuer.safeParse(value).success).toBe(is);
});

test.each([
  ['https://ops.example.com/operator', true],
  ['https://ops.example.com:8443/operator', true],
  ['http://localhost:4102/operator', true],
  ['http://127.0.0.1:4102/operator', true],
  ['http://[::1]:4102/operator', true],
  ['http://ops.example.com/operator', false],
  ['http://127.0.0.1.example.com/operator', false],
  ['https://ops.example.com/operator/', false],
  ['https://ops.example.com/admin/operator', false],
  ['https://ops.example.com', false],
  ['https://ops.example.com/operator?x', false],
  ['https://ops.example.com/operator#x', false],
  ['ftp://ops.example.com/operator', false],
  ['ops.example.com/operator', false],
])('the address %s: %s', (value, is) => {
  expect(operatorsUrl.safeParse(value).success).toBe(is);
});

test.each([
  [{ PUBLIC_URL: 'https://ops.example.com' }, ['must have another host than PUBLIC_URL']],
  [{ PUBLIC_URL: 'https://OPS.example.com:8443/x' }, ['must have another host than PUBLIC_URL']],
  [{ STREAMING_URL: 'https://ops.example.com' }, ['must have another host than STREAMING_URL']],
  [{ AUTH_URL: 'https://ops.example.com' }, ['must have another host than AUTH_URL']],
  [{ AUTH_URL: 'https://auth.ops.example.com' }, []],
  [{ OPERATORS_URL: 'http://localhost:4102/operator', PUBLIC_URL: 'http://localhost:4000' }, []],
])('beside %j: %j', (others, messages) => {
  const settings = {
    OPERATORS_URL: 'https://ops.example.com/operator',
    PUBLIC_URL: 'https://api.example.com',
    ...others,
  };
  const parsed = z
    .any()
    .superRefine((_, context) => {
      checkOperatorsUrl(settings, context);
    })
    .safeParse({});
  const found = parsed.error?.issues.map(({ path, message }) => [path[0], message]) ?? [];
  expect(found).toEqual(messages.map((message) => ['OPERATORS_URL', message]));
});

test('it is set up as a whole', () => {
  const whole = {
    OPERATORS_URL: 'https://ops.example.com/operator',
    OPERATORS_OIDC_ISSUER: 'https://id.example.com',
    OPERATORS_OIDC_CLIENT_ID: 'console',
    OPERATORS_OIDC_CLIENT_SECRET: 'secret',
    OPERATORS_OIDC_GROUPS: oidcGroups.parse('a=viewer'),
  };
  const faultsOf = (settings: typeof whole) =>
    z
      .any()
      .superRefine((_, context) => {
        checkOidc(settings, context);
      })
      .safeParse({})
      .error?.issues.map(({ path }) => path[0]) ?? [];
  expect(faultsOf(whole)).toEqual([]);
  for (const name of Object.keys(whole)) {
    const without = { ...whole, [name]: name === 'OPERATORS_OIDC_GROUPS' ? new Map() : undefined };
    expect(faultsOf(without)).toEqual([name]);
  }
  expect(faultsOf({ OPERATORS_OIDC_GROUPS: new Map() } as unknown as typeof whole)).toEqual([]);
});
