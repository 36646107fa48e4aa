import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  makeApplication,
  operate,
  operatePath,
  operatorAuthorization,
} from '../../../test/suite/operator.ts';
import type { Answer } from '../../../test/suite/operator.ts';
import { startOperatedAccount } from '../../../test/suite/operated-account.ts';
import type { OperatedAccount } from '../../../test/suite/operated-account.ts';
import { insertAccount } from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { makeToken } from '../../../test/suite/tokens.ts';

const COUNT = 5;

let suite: OperatedAccount;

beforeAll(async () => {
  suite = await startOperatedAccount();
});

afterAll(async () => {
  await suite.close();
});

const make = () => makeApplication(suite.account, suite.account_id);
const call = (method: string, path: string, body?: unknown) => operate(suite.account, method, path, body);

describe('the lists', () => {
  test('go over pages, newest first, each token once', async () => {
    const { path } = await make();
    const made = [];
    for (let count = 0; count < COUNT; count += 1) made.push(await makeToken(suite.account, path));
    const ids = made.map(({ token_id }) => token_id).toReversed();
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '?limit=2' : `?limit=2&cursor=${cursor}`;
      const { body }: Answer = await call('GET', `${path}/tokens${query}`);
      seen.push(...(body['tokens'] as { token_id: number }[]).map(({ token_id }) => token_id));
      cursor = body['next_cursor'] as string | null;
    } while (cursor !== null);
    expect(seen).toEqual(ids);
    const full = await call('GET', `${path}/tokens?limit=${String(COUNT)}`);
    expect(full.body['next_cursor']).toBeNull();
  });

  test('of an account are over all of its applications, and no other account’s', async () => {
    const account_id = await insertAccount(suite.database);
    const [one, other] = [
      await makeApplication(suite.account, account_id),
      await makeApplication(suite.account, account_id),
    ];
    await makeToken(suite.account, (await make()).path);
    const [first, second] = [
      await makeToken(suite.account, one.path),
      await makeToken(suite.account, other.path),
    ];
    await operatePath(suite.account, 'POST', `/private/accounts/${String(account_id)}/temporary-token`);
    const { body } = await operatePath(
      suite.account,
      'GET',
      `/private/accounts/${String(account_id)}/tokens`,
    );
    expect((body['tokens'] as { token_id: number }[]).map(({ token_id }) => token_id)).toEqual([
      second.token_id,
      first.token_id,
    ]);
    expect((await operatePath(suite.account, 'GET', '/private/accounts/999999999/tokens')).status).toBe(404);

    const found = async (query: string) => {
      const path = `/private/accounts/${String(account_id)}/tokens${query}`;
      const { tokens } = (await operatePath(suite.account, 'GET', path)).body as {
        tokens: { token_id: number; application_name: string }[];
      };
      expect(tokens.every(({ application_name }) => application_name === 'App')).toBe(true);
      return tokens.map(({ token_id }) => token_id);
    };
    const id = String(one.application_id);
    const named = await makeToken(suite.account, one.path, 'Night_ly');
    expect(await found(`?application_id=${id}`)).toEqual([named.token_id, first.token_id]);
    expect(await found('?search=T_L')).toEqual([named.token_id]);
    expect(await found(`?application_id=${id}&search=night&status=Expired`)).toEqual([]);
  });

  test.each(['?limit=0', '?limit=201', '?limit=x', '?cursor=x', '?cursor=-1', '?more=1', '?limit=1&limit=2'])(
    'with %s are 400',
    async (query) => {
      const { path } = await make();
      expect((await call('GET', `${path}/tokens${query}`)).status).toBe(400);
    },
  );
});

describe('the routes', () => {
  test('are the operator’s only, 404 for what is not there or another application’s, 405 otherwise', async () => {
    const [{ path }, other] = [await make(), await make()];
    const token = await makeToken(suite.account, path);
    const paths = [`/private/applications${token.path}/copy`, `/private/accounts/1/tokens`];
    for (const url of paths) {
      expect((await getPrivate(suite.account, url)).status).toBe(401);
      const headers = { authorization: operatorAuthorization };
      const allowed = await getPrivate(suite.account, url, headers);
      expect([404, 405, 200]).toContain(allowed.status);
    }
    for (const wrong of [
      `${other.path}/tokens/${String(token.token_id)}`,
      `${path}/tokens/0`,
      '/0/tokens/1',
    ]) {
      expect([wrong, (await call('POST', `${wrong}/copy`)).status]).toEqual([wrong, 404]);
      expect([wrong, (await call('POST', `${wrong}/revoke`)).status]).toEqual([wrong, 404]);
    }
    expect((await call('GET', '/999999999/tokens')).status).toBe(404);
    expect((await call('DELETE', `${path}/tokens`)).headers.get('allow')).toBe('GET, HEAD, POST');
    await call('DELETE', path);
    expect((await call('GET', `${path}/tokens`)).status).toBe(404);
  });
});
