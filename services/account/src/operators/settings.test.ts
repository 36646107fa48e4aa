import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { checkOidc, oidcGroups, oidcIssuer } from './settings.ts';

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
