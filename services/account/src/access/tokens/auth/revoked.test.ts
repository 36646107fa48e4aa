import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accessTokenHash, newAccessToken } from '@tollgate/credentials/access-token';
import { revokedTokensSchema } from '@tollgate/contracts/client-record';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { waitFor } from '@tollgate/stack/wait-for';
import { makeApplication, operate } from '../../../../test/suite/operator.ts';
import { startOperatedAccount } from '../../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../../test/suite/operated-account.ts';
import { getPrivate } from '../../../../test/suite/requests.ts';

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount({ settings: { HOUSEKEEPING_INTERVAL_SEC: '1' } });
});

afterAll(async () => {
  await suite.close();
});

async function post(path: string, body: unknown): Promise<number> {
  const response = await fetch(`${suite.account.privateUrl}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: basicAuthorization(serviceCredential) },
    body: JSON.stringify(body),
  });
  return response.status;
}

const pathOf = (clientId: string) => `/private/clients/${clientId}/revoked-tokens`;
const nowSec = () => Math.floor(Date.now() / 1_000);
const address = '203.0.113.7';

function giveBack(clientId: string, expires_at?: number): Promise<number> {
  const token_hash = accessTokenHash(newAccessToken('tg', clientId));
  return post(pathOf(clientId), { token_hash, address, expires_at });
}

async function pageAfter(clientId: string, after: string) {
  const response = await getPrivate(suite.account, `${pathOf(clientId)}?after=${after}`);
  return revokedTokensSchema.parse(await response.json());
}

test('given back tokens are listed by pages, each once, and only their client’s', async () => {
  const [one, other] = [
    await makeApplication(suite.account, suite.account_id),
    await makeApplication(suite.account, suite.account_id),
  ];
  const token_hash = accessTokenHash(newAccessToken('tg', one.client_id));
  const body = { token_hash, address, expires_at: nowSec() + 60 };
  expect([await post(pathOf(one.client_id), body), await post(pathOf(one.client_id), body)]).toEqual([
    204, 204,
  ]);
  expect(await pageAfter(one.client_id, '')).toEqual({ token_hashes: [token_hash], next_after: null });
  expect(await pageAfter(one.client_id, token_hash)).toEqual({ token_hashes: [], next_after: null });
  expect((await pageAfter(other.client_id, '')).token_hashes).toEqual([]);
  await suite.database.raw(
    `INSERT INTO revoked_tokens (application_id, token_hash, expires_at)
     SELECT ?, lpad(CAST(n AS text), 43, '_'), now() + interval '1 day' FROM generate_series(1, 2500) AS n`,
    [other.application_id],
  );
  const seen: string[] = [];
  let after: string | null = '';
  while (after !== null) {
    const page: Awaited<ReturnType<typeof pageAfter>> = await pageAfter(other.client_id, after);
    seen.push(...page.token_hashes);
    after = page.next_after;
  }
  expect([seen.length, new Set(seen).size]).toEqual([2_500, 2_500]);
  expect((await getPrivate(suite.account, pathOf(one.client_id))).status).toBe(400);
  expect((await getPrivate(suite.account, `${pathOf(one.client_id)}?after=x`)).status).toBe(400);
});

test('a row stays until its token has expired everywhere; without an expiry, for the longest lifespan there was', async () => {
  const { client_id, application_id, path } = await makeApplication(suite.account, suite.account_id);
  await operate(suite.account, 'PATCH', path, { token_lifespan_sec: 864_000 });
  await operate(suite.account, 'PATCH', path, { token_lifespan_sec: 60 });
  expect(await giveBack(client_id)).toBe(204);
  const rows = () =>
    suite.database('revoked_tokens').where({ application_id }).select<{ expires_at: Date }[]>();
  const [kept] = await rows();
  expect((kept?.expires_at.getTime() ?? 0) / 1_000 - nowSec()).toBeGreaterThan(863_000);
  // Clocks differ, so rows are deleted a day late.
  expect(await giveBack(client_id, nowSec() - 3_600)).toBe(204);
  expect(await giveBack(client_id, nowSec() - 90_000)).toBe(204);
  await waitFor(async () => (await rows()).length === 2);
});

test('a revocation that Postgres has lost is taken over: revoked, its secrets ended, audited and counted', async () => {
  const { client_id, application_id, path } = await makeApplication(suite.account, suite.account_id);
  const lost = `/private/clients/${client_id}/lost-revocation`;
  expect(await post(lost, { revocation_epoch: 0 })).toBe(204);
  expect((await operate(suite.account, 'GET', path)).body['status']).toBe('active');
  for (let time = 0; time < 2; time += 1) expect(await post(lost, { revocation_epoch: 3 })).toBe(204);
  const { body } = await operate(suite.account, 'GET', path);
  expect(body).toMatchObject({ status: 'revoked', revocation_epoch: 3, secrets: [] });
  const audit = await suite
    .database('audit_log')
    .where({ application_id, action: 'application_revocation_recovered' });
  expect(audit).toMatchObject([
    {
      actor: `service:${serviceCredential.id}`,
      details: { revocation_epoch: 3, revocation_epoch_before: 0, status_before: 'active' },
    },
  ]);
  expect(await (await fetch(`${suite.account.privateUrl}/metrics`)).text()).toMatch(
    /^tollgate_revocations_recovered_total\{.*\} 1$/m,
  );
  expect(suite.account.logs()).toContain('Postgres had lost a revocation');
  await waitFor(() => suite.auth.told.some((one) => one.client_id === client_id));
  const rotated = await operate(suite.account, 'POST', `${path}/rotate-secret`, { overlap_sec: 0 });
  expect(rotated.body).toMatchObject({ status: 'active', revocation_epoch: 3 });
  expect(await post(`/private/clients/${crypto.randomUUID()}/lost-revocation`, { revocation_epoch: 1 })).toBe(
    404,
  );
  for (const revocation_epoch of [-1, '1', null]) expect(await post(lost, { revocation_epoch })).toBe(400);
});
