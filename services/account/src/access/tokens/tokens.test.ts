import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart, parseAccessToken } from '@tollgate/credentials/access-token';
import { clientAnswerSchema } from '@tollgate/contracts/client-record';
import { makeApplication, operate } from '../../../test/suite/operator.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { makeToken } from '../../../test/suite/tokens.ts';

const LIMIT = 5;

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount({
    settings: { MAX_MANUAL_TOKENS_PER_APPLICATION: String(LIMIT) },
  });
});

afterAll(async () => {
  await suite.close();
});

const make = () => makeApplication(suite.account, suite.account_id);
const call = (method: string, path: string, body?: unknown) => operate(suite.account, method, path, body);

async function manualTokens(clientId: string) {
  const response = await getPrivate(suite.account, `/private/clients/${clientId}`);
  return clientAnswerSchema.parse(await response.json()).manual_tokens;
}

async function statuses(path: string): Promise<unknown[]> {
  const { body } = await call('GET', `${path}/tokens`);
  return (body['tokens'] as { status: string }[]).map(({ status }) => status);
}

async function audited(applicationId: number): Promise<Record<string, unknown>[]> {
  return suite.database('audit_log').where({ application_id: applicationId }).orderBy('audit_id');
}

const expire = (tokenId: number) =>
  suite
    .database('access_tokens')
    .where({ token_id: tokenId })
    .update({ issued_at: new Date(Date.now() - 60_000), expires_at: new Date(Date.now() - 1_000) });

describe('generating a token', () => {
  test('answers with its record and the token, lists it as Active, and tells auth before the answer', async () => {
    const { path, client_id, application_id } = await make();
    const { status, headers, body } = await call('POST', `${path}/tokens`, { name: 'Ünï 🚪' });
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { access_token, issued_at, expires_at } = body as Record<string, string>;
    const record = {
      token_id: expect.any(Number),
      application_id,
      name: 'Ünï 🚪',
      status: 'Active',
      issued_at: expect.stringMatching(/^\d{4}-.*:\d\d\.000Z$/),
      expires_at: expect.any(String),
      revoked_at: null,
      last_used_at: null,
    };
    expect(body).toEqual({ ...record, access_token: expect.any(String), delivered: true });
    expect(Date.parse(String(expires_at)) - Date.parse(String(issued_at))).toBe(3_600_000);
    expect(parseAccessToken(String(access_token), 'tg')).toEqual({
      applicationPart: applicationPart(client_id),
    });
    expect((await call('GET', `${path}/tokens`)).body).toEqual({ tokens: [record], next_cursor: null });
    expect(suite.auth.told).toContainEqual({ client_id, revocation_epoch: 0 });
    expect(await manualTokens(client_id)).toEqual([
      {
        token_hash: accessTokenHash(String(access_token)),
        iat: Date.parse(String(issued_at)) / 1_000,
        exp: Date.parse(String(expires_at)) / 1_000,
        epoch: 0,
      },
    ]);
    expect((await audited(application_id)).at(-1)).toMatchObject({
      action: 'token_issued',
      actor: 'operator:suite-operator',
      request_id: headers.get('x-request-id'),
      details: { name: 'Ünï 🚪', token_id: body['token_id'] },
    });
  });

  test('a lifespan of a hundred years is told to the second', async () => {
    const wanted = {
      account_id: suite.account_id,
      name: 'A',
      type: 'manual',
      token_lifespan_sec: 3_153_600_000,
    };
    const { body } = await call('POST', '', wanted);
    await makeToken(suite.account, `/${String(body['application_id'])}`);
    const [token] = await manualTokens(String(body['client_id']));
    expect((token?.exp ?? 0) - (token?.iat ?? 0)).toBe(3_153_600_000);
  });

  test.each([{}, { name: '' }, { name: 'x'.repeat(201) }, { name: 'nul\0' }, { name: 'x', more: 1 }])(
    'with %j is 400, and makes none',
    async (wanted) => {
      const { path } = await make();
      expect((await call('POST', `${path}/tokens`, wanted)).status).toBe(400);
      expect(await statuses(path)).toEqual([]);
    },
  );

  test('the plaintext is in no table, and in no log', async () => {
    const { path } = await make();
    const { access_token } = await makeToken(suite.account, path);
    const secret = access_token.slice(-49);
    for (const table of ['access_tokens', 'audit_log', 'applications', 'client_change_outbox']) {
      const rows = await suite.database(table).select(suite.database.raw('row_to_json(??.*) AS row', table));
      expect(JSON.stringify(rows)).not.toContain(secret);
      expect(JSON.stringify(rows)).not.toContain(Buffer.from(secret).toString('hex'));
    }
    expect(suite.account.logs()).not.toContain(secret);
  });
});

describe('the limit of active tokens', () => {
  test('is exact for any number at once, and counts neither revoked nor expired ones', async () => {
    const { path } = await make();
    const answers = await Promise.all(
      Array.from({ length: LIMIT + 3 }, () => call('POST', `${path}/tokens`, { name: 'T' })),
    );
    const refused = answers.filter(({ status }) => status === 409);
    expect([answers.filter(({ status }) => status === 201).length, refused.length]).toEqual([LIMIT, 3]);
    expect(refused[0]?.body).toMatchObject({
      code: 'token_limit_reached',
      detail: expect.stringContaining(`${String(LIMIT)} active`),
    });
    const ids = answers.flatMap(({ body }) => (typeof body['token_id'] === 'number' ? body['token_id'] : []));
    await call('POST', `${path}/tokens/${String(ids[0])}/revoke`);
    await expire(Number(ids[1]));
    await makeToken(suite.account, path);
    await makeToken(suite.account, path);
    expect((await call('POST', `${path}/tokens`, { name: 'T' })).status).toBe(409);
    expect((await statuses(path)).toSorted()).toEqual([
      ...Array.from({ length: LIMIT }, () => 'Active'),
      'Expired',
      'Revoked',
    ]);
  });
});

describe('copying', () => {
  test('gives the token again, any time, and is audited', async () => {
    const { path, application_id } = await make();
    const token = await makeToken(suite.account, path);
    for (let time = 0; time < 2; time += 1) {
      const { status, headers, body } = await call('POST', `${token.path}/copy`);
      expect([status, headers.get('cache-control')]).toEqual([200, 'no-store']);
      expect(body).toMatchObject({ token_id: token.token_id, access_token: token.access_token });
    }
    expect((await audited(application_id)).map(({ action }) => action)).toEqual([
      'application_created',
      'token_issued',
      'token_copied',
      'token_copied',
    ]);
    expect(JSON.stringify(await audited(application_id))).not.toContain(token.access_token);
  });

  test('is refused for a token that is expired, revoked, or of a revoked application', async () => {
    const { path } = await make();
    const [expired, revoked, other] = [
      await makeToken(suite.account, path),
      await makeToken(suite.account, path),
      await makeToken(suite.account, path),
    ];
    await expire(expired.token_id);
    await call('POST', `${revoked.path}/revoke`);
    const expectRefused = async (tokenPath: string) => {
      const { status, body } = await call('POST', `${tokenPath}/copy`);
      expect([status, body['code']]).toEqual([409, 'token_not_active']);
      expect(JSON.stringify(body)).not.toContain('tg_');
    };
    await expectRefused(expired.path);
    await expectRefused(revoked.path);
    await call('POST', `${path}/revoke`);
    await expectRefused(other.path);
    // Rotation reactivates the application, but not its old tokens.
    await call('POST', `${path}/rotate-secret`, { overlap_sec: 0 });
    await expectRefused(other.path);
  });

  test('and revoking at once: the copy is before the revocation in the audit log, or refused', async () => {
    const { path, application_id } = await make();
    for (let round = 0; round < 5; round += 1) {
      const token = await makeToken(suite.account, path);
      const [copied] = await Promise.all([
        call('POST', `${token.path}/copy`),
        call('POST', `${token.path}/revoke`),
      ]);
      const actions = (await audited(application_id))
        .filter(({ details }) => (details as { token_id?: number }).token_id === token.token_id)
        .map(({ action }) => action);
      expect(actions).toEqual(
        copied.status === 200
          ? ['token_issued', 'token_copied', 'token_revoked']
          : ['token_issued', 'token_revoked'],
      );
    }
  });

  test('a sealed token that was moved to another row is not opened, and 500 tells nothing', async () => {
    const { path } = await make();
    const [one, other] = [await makeToken(suite.account, path), await makeToken(suite.account, path)];
    await suite.database.raw(
      `UPDATE access_tokens SET (sealed_nonce, sealed_token) =
         (SELECT sealed_nonce, sealed_token FROM access_tokens WHERE token_id = ?) WHERE token_id = ?`,
      [other.token_id, one.token_id],
    );
    const { status, body } = await call('POST', `${one.path}/copy`);
    expect([status, body['code'], body['detail']]).toEqual([500, 'internal_error', undefined]);
    expect((await call('POST', `${other.path}/copy`)).body['access_token']).toBe(other.access_token);
  });
});

describe('revoking a token', () => {
  test('ends that one, tells auth, and a second time changes nothing', async () => {
    const { path, client_id, application_id } = await make();
    const [token, other] = [await makeToken(suite.account, path), await makeToken(suite.account, path)];
    const first = await call('POST', `${token.path}/revoke`);
    expect(first.body).toMatchObject({ status: 'Revoked', delivered: true });
    const second = await call('POST', `${token.path}/revoke`);
    expect(second.body['revoked_at']).toBe(first.body['revoked_at']);
    expect((await manualTokens(client_id)).map(({ token_hash }) => token_hash)).toEqual([
      accessTokenHash(other.access_token),
    ]);
    expect(await statuses(path)).toEqual(['Active', 'Revoked']);
    const revocations = (await audited(application_id)).filter(({ action }) => action === 'token_revoked');
    expect(revocations).toHaveLength(1);
  });

  test('revoking the application ends all of them, and generating more is refused', async () => {
    const { path, client_id } = await make();
    await makeToken(suite.account, path);
    await call('POST', `${path}/revoke`);
    expect([await manualTokens(client_id), await statuses(path)]).toEqual([[], ['Revoked']]);
    const { status, body } = await call('POST', `${path}/tokens`, { name: 'T' });
    expect([status, body['code']]).toEqual([409, 'application_revoked']);
  });

  test('generating while the application is revoked: each token is dead, or never was made', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { path, client_id } = await make();
      const [issued] = await Promise.all([
        call('POST', `${path}/tokens`, { name: 'T' }),
        call('POST', `${path}/revoke`),
      ]);
      expect([201, 409]).toContain(issued.status);
      expect(await manualTokens(client_id)).toEqual([]);
      await call('POST', `${path}/rotate-secret`, { overlap_sec: 0 });
      expect(await manualTokens(client_id)).toEqual([]);
    }
  });
});
