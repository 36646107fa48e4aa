import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OPERATOR_ROLES } from '@tollgate/contracts/operator-roles';
import { serviceCredentials } from '@tollgate/config/settings';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import type { Described } from '@tollgate/operation';
import { waitFor } from '@tollgate/stack/wait-for';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { newOwner } from '../../../test/suite/console.ts';
import { OPERATOR_API } from '../../api/operator.ts';
import { checkRoles, credentialRoles } from './credential-roles.ts';

/** docs/operators.md, held by every operation. */

const credentialOf = (id: string) => ({ id, secret: randomBytes(24).toString('base64url') });

/** By role; the last has none. */
const CREDENTIALS = [...OPERATOR_ROLES, 'unlisted'].map((name) => credentialOf(`suite-${name}`));
const REPORTER = credentialOf('suite-reporter');

const pair = ({ id, secret }: { id: string; secret: string }) => `${id}:${secret}`;

let suite: AccountUnderTest;
let strangers: Record<string, string>[];

beforeAll(async () => {
  suite = await startAccount({
    settings: {
      OPERATOR_CREDENTIALS: CREDENTIALS.map(pair).join(' '),
      OPERATOR_CREDENTIAL_ROLES: OPERATOR_ROLES.map((role) => `suite-${role}=${role}`).join(', '),
      USAGE_REPORTER_CREDENTIALS: pair(REPORTER),
    },
  });
  const { browser } = await newOwner(suite);
  const { body } = await browser.request('POST', '/temporary-token');
  strangers = [
    {},
    { cookie: browser.cookie ?? '' },
    { authorization: `Bearer ${(body as { access_token: string }).access_token}` },
    { authorization: basicAuthorization(serviceCredential) },
    { authorization: basicAuthorization(REPORTER) },
    { authorization: basicAuthorization({ id: 'suite-admin', secret: 'x'.repeat(32) }) },
  ];
});

afterAll(() => suite.close());

const OPERATIONS: readonly Described[] = OPERATOR_API.flatMap(
  ({ operations }): readonly Described[] => operations,
);

/** The roles that docs/operators.md lists for each route. */
const DOCUMENTED = new Map(
  readFileSync(resolve(import.meta.dirname, '../../../../../docs/operators.md'), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, , route = '']) => /^`[A-Z]+ \//.test(route))
    .map(([, , route = '', ...roles]) => [
      route.replaceAll('`', ''),
      OPERATOR_ROLES.filter((_, index) => roles[index] === 'yes'),
    ]),
);

async function answerTo({ method, path }: Described, headers: Record<string, string>) {
  // The role is decided on before ids and bodies are read.
  const response = await fetch(`${suite.account.privateUrl}${path.replaceAll(/\{\w+\}/g, '0')}`, {
    method,
    headers,
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return { status: response.status, body: (isJson ? JSON.parse(text) : {}) as Record<string, unknown> };
}

const routeOf = ({ method, path }: Described) => `${method} ${path}`;

test('the document has every operation, and no other', () => {
  expect([...DOCUMENTED.keys()].toSorted()).toEqual(OPERATIONS.map(routeOf).toSorted());
});

describe.each(OPERATIONS.map((each) => [routeOf(each), each] as const))('%s', (route, declared) => {
  test.each(CREDENTIALS.map((credential) => [credential.id, credential] as const))(
    'answers %s as documented',
    async (id, credential) => {
      const role = OPERATOR_ROLES.find((each) => id === `suite-${each}`) ?? 'admin';
      const { status, body } = await answerTo(declared, { authorization: basicAuthorization(credential) });
      const allowed = DOCUMENTED.get(route) ?? [];
      if (allowed.includes(role)) {
        expect([401, 403, 405]).not.toContain(status);
        return;
      }
      expect({ status, body }).toMatchObject({ status: 403, body: { code: 'insufficient_role' } });
      expect([...(body['roles'] as string[])].toSorted()).toEqual(allowed.toSorted());
    },
  );

  test('is refused without an operator’s credential', async () => {
    for (const headers of strangers) expect((await answerTo(declared, headers)).status).toBe(401);
  });
});

describe('OPERATOR_CREDENTIAL_ROLES', () => {
  const settings = z
    .object({ OPERATOR_CREDENTIALS: serviceCredentials, OPERATOR_CREDENTIAL_ROLES: credentialRoles })
    .superRefine(checkRoles);
  const isAccepted = (roles: string) =>
    settings.safeParse({
      OPERATOR_CREDENTIALS: `one:${'x'.repeat(16)} two:${'y'.repeat(16)}`,
      OPERATOR_CREDENTIAL_ROLES: roles,
    }).success;

  test.each(['', 'one=viewer', 'one=viewer,two=admin', ' one=support, two=finance '])(
    'can be %j',
    (roles) => {
      expect(isAccepted(roles)).toBe(true);
    },
  );

  test.each([
    'one',
    'one=',
    'one=root',
    'one=viewer,one=admin',
    '=viewer',
    '*=admin',
    'one=viewer=admin',
    'oen=viewer',
  ])('cannot be %j', (roles) => {
    expect(isAccepted(roles)).toBe(false);
  });
});

const SEE_ADDRESSES = [false, true, false, true, true];

test('addresses in the audit log are for support and admins', async () => {
  const seen = await Promise.all(
    CREDENTIALS.map(async (credential) => {
      const response = await fetch(`${suite.account.privateUrl}/private/audit-log`, {
        headers: { authorization: basicAuthorization(credential) },
      });
      const { entries } = (await response.json()) as { entries: { address: string | null }[] };
      expect(entries.length).toBeGreaterThan(0);
      return entries.some(({ address }) => address !== null);
    }),
  );
  expect(seen).toEqual(SEE_ADDRESSES);
});

describe('an export of the audit log', () => {
  const ask = ({ id, secret }: { id: string; secret: string }, wanted: object) =>
    fetch(`${suite.account.privateUrl}/private/audit-log/export`, {
      method: 'POST',
      headers: { authorization: basicAuthorization({ id, secret }), 'content-type': 'application/json' },
      body: JSON.stringify(wanted),
    });

  /** Once the one before has ended, which is after its answer. */
  const exported = (credential: (typeof CREDENTIALS)[number] | undefined, wanted: object) =>
    waitFor(async () => {
      const response = await ask(credential ?? REPORTER, wanted);
      const text = await response.text();
      return response.status === 200 ? { headers: response.headers, text } : undefined;
    });
  const lastOf = (action: string) =>
    suite
      .database('audit_log')
      .where({ action })
      .orderBy('audit_id', 'desc')
      .first<Record<string, unknown>>();

  test('has addresses for those who may see them', async () => {
    const seen: boolean[] = [];
    for (const credential of CREDENTIALS) {
      const { text } = await exported(credential, { format: 'ndjson', action: 'signed_in' });
      const entries = text.trim().split('\n');
      seen.push(entries.some((line) => (JSON.parse(line) as { address: string | null }).address !== null));
    }
    expect(seen).toEqual(SEE_ADDRESSES);
  });

  test('is all that the filters leave, oldest first, and states its number and its ends', async () => {
    const actor = 'operator:many';
    // More than a page of what is read at once, and names that spreadsheets take for formulas.
    await suite.database.raw(
      `INSERT INTO audit_log (actor, action, address, request_id, details, after)
       SELECT ?, 'product_created', '192.0.2.1', '=cmd|' || n, '{"name": "<b>"}', '{"name": "=b"}'
       FROM generate_series(1, 2500) AS n`,
      [actor],
    );
    const ids = await suite
      .database('audit_log')
      .where({ actor })
      .orderBy('audit_id')
      .pluck<number[]>('audit_id');
    const [viewer, support] = CREDENTIALS;
    const { text, headers } = await exported(viewer, { format: 'ndjson', actor });
    const lines = text.trim().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { audit_id: number }).audit_id)).toEqual(ids);
    const ends = `${String(ids.at(0))}-${String(ids.at(-1))}`;
    expect(headers.get('content-disposition')).toContain(`audit-log-${ends}.ndjson`);
    expect(headers.get('x-audit-entries')).toBe('2500');
    expect(await lastOf('audit_log_exported')).toMatchObject({
      actor: 'operator:suite-viewer',
      details: {
        format: 'ndjson',
        filters: { actor },
        entries: 2500,
        first_audit_id: ids.at(0),
        last_audit_id: ids.at(-1),
      },
    });
    const csv = (await exported(support, { format: 'csv', actor })).text.split('\r\n');
    expect(csv).toHaveLength(2_502);
    expect(csv[0]).toBe(
      'audit_id,at,actor,action,account_id,application_id,address,request_id,details,before,after',
    );
    expect(csv[1]).toContain(
      `,operator:many,product_created,,,192.0.2.1,'=cmd|1,"{""name"":""<b>""}",,"{""name"":""=b""}"`,
    );
  });

  test('of nothing is empty', async () => {
    const { text, headers } = await exported(CREDENTIALS[0], { format: 'ndjson', actor: 'operator:none' });
    expect([text, headers.get('x-audit-entries')]).toEqual(['', '0']);
  });

  test('is limited for each operator', async () => {
    const [, , , , unlisted = REPORTER] = CREDENTIALS;
    await waitFor(async () => {
      const response = await ask(unlisted, { format: 'csv', actor: 'operator:none' });
      await response.text();
      return response.status === 429 && Number(response.headers.get('retry-after')) > 600;
    });
    const action = 'audit_log_exported';
    expect(
      await suite.database('audit_log').where({ action, actor: 'operator:suite-unlisted' }),
    ).toHaveLength(10);
  });
});
