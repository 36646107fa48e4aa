import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { accessTokenHash } from '@tollgate/credentials/access-token';
import { clientPageSchema } from '@tollgate/contracts/manual-tokens';
import { basicAuthorization } from '@tollgate/http/private-api-credential';
import { serviceCredential } from '@tollgate/testbed/service-process';
import { makeApplication, operate } from '../../../../test/suite/operator.ts';
import { startOperatedAccount } from '../../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../../test/suite/operated-account.ts';
import { getPrivate } from '../../../../test/suite/requests.ts';
import { makeToken } from '../../../../test/suite/tokens.ts';

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount();
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

async function make() {
  const application = await makeApplication(suite.account, suite.account_id);
  const token = await makeToken(suite.account, application.path);
  return { ...application, token, token_hash: accessTokenHash(token.access_token) };
}

async function rowOf(token_hash: string): Promise<Record<string, unknown>> {
  const [row] = await suite
    .database('access_tokens')
    .where({ token_hash })
    .select<Record<string, unknown>[]>();
  return row ?? {};
}

test('the clients with live tokens come by pages, and no others', async () => {
  const [live, dead] = [await make(), await make()];
  const { client_id: without } = await makeApplication(suite.account, suite.account_id);
  await operate(suite.account, 'POST', `${dead.token.path}/revoke`);
  const response = await getPrivate(suite.account, '/private/manual-tokens/clients?after=0');
  const page = clientPageSchema.parse(await response.json());
  expect(page.client_ids).toContain(live.client_id);
  expect(page.client_ids).not.toContain(dead.client_id);
  expect(page.client_ids).not.toContain(without);
  expect(page.next_after).toBeNull();
  const after = await getPrivate(
    suite.account,
    `/private/manual-tokens/clients?after=${String(live.application_id)}`,
  );
  expect(clientPageSchema.parse(await after.json()).client_ids).toEqual([]);
  expect((await getPrivate(suite.account, '/private/manual-tokens/clients')).status).toBe(400);
});

test('uses are noted, the latest whatever comes in which order, and unknown tokens are left out', async () => {
  const { token_hash, application_id } = await make();
  const report = (used_at: number) =>
    post('/private/manual-tokens/uses', {
      uses: [
        { token_hash, used_at },
        { token_hash: 'x'.repeat(43), used_at },
      ],
    });
  expect([await report(1_700_000_100), await report(1_700_000_000)]).toEqual([204, 204]);
  expect((await rowOf(token_hash))['last_used_at']).toEqual(new Date(1_700_000_100_000));
  expect(await suite.database('application_uses').where({ application_id })).toEqual([
    { application_id, last_used_at: new Date(1_700_000_100_000) },
  ]);
  expect(await post('/private/manual-tokens/uses', { uses: [] })).toBe(204);
  for (const uses of [[{ token_hash: 'x', used_at: 1 }], [{ token_hash, used_at: -1 }], 1]) {
    expect(await post('/private/manual-tokens/uses', { uses })).toBe(400);
  }
  const many = Array.from({ length: 10_000 }, () => ({ token_hash, used_at: 1_700_000_000 }));
  expect(await post('/private/manual-tokens/uses', { uses: many })).toBe(204);
  expect(await post('/private/manual-tokens/uses', { uses: [...many, ...many] })).not.toBe(204);
});

test('a client gives back its own token: committed, audited as the client, and only once', async () => {
  const [own, other] = [await make(), await make()];
  const path = `/private/clients/${own.client_id}/revoked-tokens`;
  const address = '203.0.113.7';
  for (let time = 0; time < 2; time += 1) {
    expect(await post(path, { token_hash: own.token_hash, address })).toBe(204);
  }
  expect((await rowOf(own.token_hash))['revoked_at']).toBeInstanceOf(Date);
  const audit = await suite
    .database('audit_log')
    .where({ application_id: own.application_id, action: 'token_revoked' });
  expect(audit).toMatchObject([{ actor: `client:${own.client_id}`, address }]);
  // Neither another client's token nor an unknown one changes anything.
  expect(await post(path, { token_hash: other.token_hash, address })).toBe(204);
  expect((await rowOf(other.token_hash))['revoked_at']).toBeNull();
  const unknown = `/private/clients/${randomUUID()}/revoked-tokens`;
  expect(await post(unknown, { token_hash: own.token_hash, address })).toBe(204);
  expect(await post('/private/clients/x/revoked-tokens', { token_hash: own.token_hash, address })).toBe(404);
  expect(await post(path, { token_hash: 'x', address })).toBe(400);
});
