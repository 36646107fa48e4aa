import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { matchesSecret, pepperSetting } from '@tollgate/credentials/client-secret';
import type { ClientRecord } from '@tollgate/contracts/client-record';
import { waitFor } from '@tollgate/stack/wait-for';
import { clientSecretPeppers } from '@tollgate/testbed/service-process';
import { makeApplication, operate, operatorAuthorization } from '../../../test/suite/operator.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { getPrivate } from '../../../test/suite/requests.ts';

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount();
});

afterAll(async () => {
  await suite.close();
});

const peppers = pepperSetting.parse(clientSecretPeppers);
const make = () => makeApplication(suite.account, suite.account_id);
const call = (method: string, path: string, body?: unknown) => operate(suite.account, method, path, body);

async function clientRecord(clientId: string): Promise<ClientRecord> {
  return (await (await getPrivate(suite.account, `/private/clients/${clientId}`)).json()) as ClientRecord;
}

async function audit(applicationId: number): Promise<Record<string, unknown>[]> {
  return suite.database('audit_log').where({ application_id: applicationId }).orderBy('audit_id');
}

const toldOf = (clientId: string) => suite.auth.told.filter(({ client_id }) => client_id === clientId);

describe('making an application', () => {
  test('answers with its record and, this once, its secret', async () => {
    const wanted = { account_id: suite.account_id, name: 'Ünï 🚪', type: 'manual', token_lifespan_sec: 60 };
    const { status, headers, body } = await call('POST', '', wanted);
    expect([status, headers.get('cache-control')]).toEqual([201, 'no-store']);
    const { application_id, client_id, client_secret } = body as Record<string, string>;
    expect(body).toEqual({
      ...wanted,
      token_lifespan_label: '1 minute',
      application_id: expect.any(Number),
      client_id: expect.any(String),
      client_secret: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
      status: 'active',
      revocation_epoch: 0,
      created_at: expect.stringMatching(/^\d{4}-.*Z$/),
      last_used_at: null,
      public_client: false,
      redirect_uris: [],
      budget: null,
      verified_at: null,
    });
    expect(headers.get('location')).toBe(`/private/applications/${String(application_id)}`);
    const { secrets } = await clientRecord(String(client_id));
    expect(matchesSecret(String(client_secret), secrets, peppers)).toBe(true);
    const read = await call('GET', `/${String(application_id)}`);
    expect(read.status).toBe(200);
    expect(read.body).toMatchObject({ client_id, secrets: [{ expires_at: null }] });
    expect(JSON.stringify(read.body)).not.toContain(client_secret);
    expect(await audit(Number(application_id))).toMatchObject([
      {
        actor: 'operator:suite-operator',
        action: 'application_created',
        account_id: suite.account_id,
        address: expect.stringContaining('127.0.0.1'),
        request_id: headers.get('x-request-id'),
      },
    ]);
  });

  test.each([
    [{ name: '' }, /name/],
    [{ name: 'x'.repeat(201) }, /name/],
    [{ name: 'nul\0' }, /name/],
    [{ name: '\ud800' }, /name/],
    [{ type: 'other' }, /type/],
    [{ token_lifespan_sec: 59 }, /token_lifespan_sec: must be .* 60 to 3153600000/],
    [{ token_lifespan_sec: 3_153_600_001 }, /token_lifespan_sec/],
    [{ token_lifespan_sec: 60.5 }, /token_lifespan_sec/],
    [{ account_id: '1' }, /account_id/],
    [{ account_id: 999_999_999 }, /account_id: there is no such account/],
    [{ account_id: 2 ** 53 }, /account_id/],
    [{ client_secret: 'mine' }, /client_secret: is not allowed here/],
    [{ name: undefined, type: undefined }, /name: .*; type: /],
  ])('with %j is 400 and says which member is wrong', async (changes, detail) => {
    const wanted = { account_id: suite.account_id, name: 'App', type: 'automatic', token_lifespan_sec: 60 };
    const { status, body } = await call('POST', '', { ...wanted, ...changes });
    expect([status, body['code']]).toEqual([400, 'invalid_request']);
    expect(body['detail']).toMatch(detail);
    for (const { field } of body['errors'] as { field: string }[]) expect(body['detail']).toContain(field);
  });

  test.each([
    ['[]', 'application/json', 400],
    ['null', 'application/json', 400],
    ['{"name":', 'application/json', 400],
    ['name=App', 'application/x-www-form-urlencoded', 415],
    [`{"name":"${'x'.repeat(20_000)}"}`, 'application/json', 413],
  ])('a body %.10s as %s is %d', async (body, type, status) => {
    const answer = await operate(suite.account, 'POST', '', body, { 'content-type': type });
    expect(answer.status).toBe(status);
  });
});

describe('the operator API', () => {
  test('is closed to everybody without an operator’s credential, the services included', async () => {
    const { path } = await make();
    for (const url of ['', path, `${path}/revoke`, '/no-such/thing']) {
      expect((await getPrivate(suite.account, `/private/applications${url}`)).status).toBe(401);
      expect((await getPrivate(suite.account, `/private/applications${url}`, {})).status).toBe(401);
    }
  });

  test('opens nothing else', async () => {
    const headers = { authorization: operatorAuthorization };
    const { client_id } = await make();
    expect((await getPrivate(suite.account, `/private/clients/${client_id}`, headers)).status).toBe(401);
  });

  test('unknown applications, ids that none can have and unknown paths are 404, other methods 405', async () => {
    for (const id of ['999999999', '0', '01', 'x', '9007199254740993', "1'%20OR%20'1", '%00']) {
      expect([id, (await call('GET', `/${id}`)).status]).toEqual([id, 404]);
      expect([id, (await call('POST', `/${id}/revoke`)).status]).toEqual([id, 404]);
      expect((await call('POST', `/${id}/rotate-secret`, { overlap_sec: 0 })).status).toBe(404);
      expect((await call('DELETE', `/${id}`)).status).toBe(404);
    }
    expect((await call('GET', '/1/no-such-thing')).status).toBe(404);
    const put = await call('PUT', '/1');
    expect([put.status, put.headers.get('allow')]).toEqual([405, 'GET, HEAD, PATCH, DELETE']);
  });

  test('never logs a secret', async () => {
    const { path, client_secret } = await make();
    const { body } = await call('POST', `${path}/rotate-secret`, { overlap_sec: 0 });
    expect(suite.account.logs()).not.toContain(client_secret);
    expect(suite.account.logs()).not.toContain(body['client_secret']);
    expect(JSON.stringify(await suite.database('audit_log').select())).not.toContain(client_secret);
  });
});

describe('revoking', () => {
  test('ends the client’s status, its secrets and its epoch, and auth is told before the answer', async () => {
    const { path, client_id, application_id } = await make();
    const { status, body } = await call('POST', `${path}/revoke`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ client_id, status: 'revoked', revocation_epoch: 1, delivered: true });
    expect(toldOf(client_id)).toEqual([{ client_id, revocation_epoch: 1 }]);
    expect(await clientRecord(client_id)).toMatchObject({
      status: 'revoked',
      revocation_epoch: 1,
      secrets: [],
    });
    expect((await audit(application_id)).map(({ action }) => action)).toEqual([
      'application_created',
      'application_revoked',
    ]);
    await waitFor(
      async () => (await suite.database('client_change_outbox').where({ client_id })).length === 0,
    );
  });

  test('twice at once grows the epoch by two, and both are audited and delivered', async () => {
    const { path, client_id, application_id } = await make();
    const answers = await Promise.all([1, 2].map(() => call('POST', `${path}/revoke`)));
    expect(answers.map(({ body }) => body['revocation_epoch']).toSorted()).toEqual([1, 2]);
    expect((await clientRecord(client_id)).revocation_epoch).toBe(2);
    expect(
      toldOf(client_id)
        .map(({ revocation_epoch }) => revocation_epoch)
        .toSorted(),
    ).toEqual([1, 2]);
    expect(await audit(application_id)).toHaveLength(3);
  });
});

describe('rotating the secret', () => {
  test('keeps the old one for the overlap, and is refused until its end', async () => {
    const { path, client_id, client_secret: first } = await make();
    const before = Date.now();
    const rotated = await call('POST', `${path}/rotate-secret`, { overlap_sec: 3_600 });
    expect([rotated.status, rotated.headers.get('cache-control')]).toEqual([200, 'no-store']);
    expect(rotated.body).toMatchObject({ client_id, status: 'active', revocation_epoch: 0, delivered: true });
    const end = Date.parse(String(rotated.body['previous_secret_expires_at']));
    expect(end).toBeGreaterThanOrEqual(before + 3_600_000);
    expect(end).toBeLessThanOrEqual(Date.now() + 3_600_000);
    const second = String(rotated.body['client_secret']);
    const works = async (secret: string) =>
      matchesSecret(secret, (await clientRecord(client_id)).secrets, peppers);
    expect([await works(first), await works(second)]).toEqual([true, true]);

    for (const overlap_sec of [0, 60]) {
      const refused = await call('POST', `${path}/rotate-secret`, { overlap_sec });
      expect([refused.status, refused.body['code'], refused.body['previous_secret_expires_at']]).toEqual([
        409,
        'previous_secret_active',
        new Date(end).toISOString(),
      ]);
    }
    expect([await works(first), await works(second)]).toEqual([true, true]);
    await call('DELETE', `${path}/previous-secret`);
    const third = await call('POST', `${path}/rotate-secret`, { overlap_sec: 0 });
    expect([third.status, third.body['previous_secret_expires_at']]).toEqual([200, null]);
    expect([await works(second), await works(String(third.body['client_secret']))]).toEqual([false, true]);
    expect(toldOf(client_id)).toHaveLength(3);
  });

  test('many times at once: one of them comes to pass, and its answer is true', async () => {
    const { path, client_id, application_id } = await make();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => call('POST', `${path}/rotate-secret`, { overlap_sec: 600 })),
    );
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
    const live = await suite
      .database('application_secrets')
      .where({ application_id })
      .whereRaw('(expires_at IS NULL OR expires_at > now())')
      .select();
    expect(live).toHaveLength(2);
    const { secrets } = await clientRecord(client_id);
    const working = answers.filter(
      ({ status, body }) => status === 200 && matchesSecret(String(body['client_secret']), secrets, peppers),
    );
    expect(working.map(({ status }) => status)).toEqual([200]);
  });

  test('brings a revoked application back under the new epoch, without its old secrets', async () => {
    const { path, client_id, client_secret, application_id } = await make();
    await call('POST', `${path}/revoke`);
    const { body } = await call('POST', `${path}/rotate-secret`, { overlap_sec: 604_800 });
    expect(body).toMatchObject({ status: 'active', revocation_epoch: 1, previous_secret_expires_at: null });
    const { secrets, status, revocation_epoch } = await clientRecord(client_id);
    expect([status, revocation_epoch, secrets.length]).toEqual(['active', 1, 1]);
    expect(matchesSecret(client_secret, secrets, peppers)).toBe(false);
    expect((await audit(application_id)).map(({ action }) => action).slice(2)).toEqual([
      'secret_rotated',
      'application_restored',
    ]);
  });

  test.each([{}, { overlap_sec: -1 }, { overlap_sec: 604_801 }, { overlap_sec: '0' }, { overlap_sec: 0.5 }])(
    'with %j is 400',
    async (wanted) => {
      const { path } = await make();
      const { status, body } = await call('POST', `${path}/rotate-secret`, wanted);
      expect([status, body['detail']]).toEqual([
        400,
        'overlap_sec: must be a whole number of seconds from 0 to 604800.',
      ]);
    },
  );
});

describe('deleting', () => {
  test('is final: 404 for everything afterwards, and only the audit log remembers', async () => {
    const { path, client_id, application_id } = await make();
    expect((await call('DELETE', path)).status).toBe(204);
    expect(toldOf(client_id)).toEqual([{ client_id, revocation_epoch: 1 }]);
    for (const [method, url, body] of [
      ['GET', path],
      ['DELETE', path],
      ['POST', `${path}/revoke`],
      ['POST', `${path}/rotate-secret`, { overlap_sec: 0 }],
    ] as const) {
      expect([method, url, (await call(method, url, body)).status]).toEqual([method, url, 404]);
    }
    expect((await getPrivate(suite.account, `/private/clients/${client_id}`)).status).toBe(404);
    expect((await audit(application_id)).at(-1)).toMatchObject({ action: 'application_deleted' });
  });

  test('and rotating at once leaves it deleted, whichever came first', async () => {
    const { path, client_id } = await make();
    const [rotated, deleted] = await Promise.all([
      call('POST', `${path}/rotate-secret`, { overlap_sec: 0 }),
      call('DELETE', path),
    ]);
    expect([200, 404]).toContain(rotated.status);
    expect(deleted.status).toBe(204);
    expect((await getPrivate(suite.account, `/private/clients/${client_id}`)).status).toBe(404);
  });
});

describe('the audit log', () => {
  test('is written in the transaction of the change: without the one there is not the other', async () => {
    const { path, client_id } = await make();
    await suite.database.raw(
      `ALTER TABLE audit_log ADD CONSTRAINT suite CHECK (action <> 'application_revoked') NOT VALID`,
    );
    try {
      expect((await call('POST', `${path}/revoke`)).status).toBe(500);
    } finally {
      await suite.database.raw('ALTER TABLE audit_log DROP CONSTRAINT suite');
    }
    expect(await clientRecord(client_id)).toMatchObject({ status: 'active', revocation_epoch: 0 });
    expect((await clientRecord(client_id)).secrets).toHaveLength(1);
    expect(await suite.database('client_change_outbox').where({ client_id })).toEqual([]);
    expect(toldOf(client_id)).toEqual([]);
  });

  test('can be neither changed nor emptied', async () => {
    await make();
    for (const sql of ["UPDATE audit_log SET actor = 'x'", 'DELETE FROM audit_log', 'TRUNCATE audit_log']) {
      await expect(suite.database.raw(sql)).rejects.toThrow('append-only');
    }
  });
});
