import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { accessTokenHash } from '@tollgate/credentials/access-token';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady } from '@tollgate/testbed/service-process';
import { addClient, addManualToken, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../test/suite/auth-under-test.ts';
import { isActive, obtainToken } from '../../test/suite/requests.ts';

let auth: AuthUnderTest;

beforeEach(async () => {
  auth = await startAuth({ LAST_USED_REPORT_INTERVAL_MS: '100', LAST_USED_MAX_ENTRIES: '3' });
});

afterEach(() => auth.close());

test('manual tokens that were found active are reported with their time, and no others', async () => {
  const client = addClient(auth.account);
  const [token, unused] = [addManualToken(auth.account, client), addManualToken(auth.account, client)];
  const issued = await obtainToken(auth.service, client);
  const before = Math.floor(Date.now() / 1_000);
  expect(await isActive(auth.service, token)).toBe(true);
  expect(await isActive(auth.service, issued)).toBe(true);
  await waitFor(() => auth.account.uses.length > 0);
  const [use] = auth.account.uses;
  expect(use?.token_hash).toBe(accessTokenHash(token));
  expect(use?.used_at).toBeGreaterThanOrEqual(before);
  const hashes = auth.account.uses.map(({ token_hash }) => token_hash);
  expect(hashes).not.toContain(accessTokenHash(unused));
  expect(hashes).not.toContain(accessTokenHash(issued));
});

test('a report that fails is made again, no more than the bound is kept, and introspection waits for none', async () => {
  const client = addClient(auth.account);
  const tokens = Array.from({ length: 5 }, () => addManualToken(auth.account, client));
  expect(await isActive(auth.service, tokens[0] ?? '')).toBe(true);
  auth.account.mood = 'failing';
  for (const token of tokens) expect(await isActive(auth.service, token)).toBe(true);
  await waitFor(() => auth.service.logs().includes('reporting the last uses of tokens to account failed'));
  auth.account.uses.length = 0;
  auth.account.mood = 'well';
  await waitFor(() => auth.account.uses.length > 0);
  const reported = new Set(auth.account.uses.map(({ token_hash }) => token_hash));
  expect(reported.size).toBeGreaterThan(0);
  expect(reported.size).toBeLessThanOrEqual(3);
});

test('what is noted is reported before a shutdown ends', async () => {
  const client = addClient(auth.account);
  const token = addManualToken(auth.account, client);
  await auth.service.stop();
  await auth.service.restart({ LAST_USED_REPORT_INTERVAL_MS: '3600000' });
  await becomeReady(auth.service);
  expect(await isActive(auth.service, token)).toBe(true);
  await auth.service.stop();
  expect(auth.account.uses.map(({ token_hash }) => token_hash)).toEqual([accessTokenHash(token)]);
  await auth.service.restart();
});
