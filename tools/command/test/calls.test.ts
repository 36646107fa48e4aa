import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { startOperatedStack } from './operated-stack.ts';
import type { OperatedStack } from './operated-stack.ts';

let stack: OperatedStack;
let account: string;
const requestId = randomUUID().replaceAll('-', '');

beforeAll(async () => {
  stack = await startOperatedStack();
  const email = `${randomUUID()}@example.com`;
  const made = await stack.json<{ account_id: number }>(
    'accounts',
    'create',
    '--email',
    email,
    '--name',
    'Ada',
  );
  account = String(made.account_id);
  await stack.sql(`
    INSERT INTO refused_calls (request_id, seq, at, kind, code, status, account_id, payer_id, application_id, address,
      api_version, duration_ms, detail, unrecorded_before)
    VALUES
      ('${requestId}', 1, '2026-06-01T12:00:00Z', 'call', 'points_limit_exceeded', 402, ${account}, 5, 6,
       '203.0.113.9', 'v2', 3, 'The points of this billing period are used up.', 0),
      ('${randomUUID().replaceAll('-', '')}', 2, '2026-06-02T12:00:00Z', 'call', 'unauthorized', 401, ${account},
       NULL, 7, '203.0.113.9', 'v2', 1, NULL, 12)`);
});

afterAll(async () => {
  await stack.close();
});

test('calls find says why, to whom and from where; an unknown one is 1, nonsense is 2', async () => {
  const found = await stack.run(['calls', 'find', requestId.toUpperCase()]);
  expect(found.code).toBe(0);
  for (const line of [
    /^code +points_limit_exceeded$/m,
    new RegExp(`^account_id +${account}$`, 'm'),
    /^address +203\.0\.113\.9$/m,
    /^detail +The points of this billing period are used up\.$/m,
  ]) {
    expect(found.stdout).toMatch(line);
  }
  expect(await stack.json('calls', 'find', requestId)).toMatchObject({
    request_id: requestId,
    records: [{ code: 'points_limit_exceeded', status: 402, payer_id: 5 }],
  });
  const unknown = await stack.run(['calls', 'find', '0'.repeat(32)]);
  expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('(not_found)')]);
  expect((await stack.run(['calls', 'find', 'abc'])).code).toBe(2);
});

test('accounts refusals lists them, by code, application and time', async () => {
  const all = await stack.run(['accounts', 'refusals', account]);
  expect(all.stdout).toMatch(/^AT +REQUEST_ID +KIND +CODE/);
  expect(all.stdout.trim().split('\n')).toHaveLength(3);
  for (const filter of [
    ['--code', 'unauthorized'],
    ['--application', '7'],
    ['--from', '2026-06-02T00:00:00Z'],
    ['--from', '2026-06-02'],
    ['--from', '2026-06-02T14:00:00+02:00', '--to', '2026-06-02'],
  ]) {
    expect(await stack.json('accounts', 'refusals', account, ...filter)).toMatchObject({
      refusals: [{ code: 'unauthorized', unrecorded_before: 12 }],
      next_cursor: null,
    });
  }
});

test('times are printed alike, to the second, whatever the API has of them', async () => {
  const { stdout } = await stack.run(['accounts', 'get', account]);
  expect(stdout).toMatch(/^created_at +\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/m);
  const audit = await stack.run(['audit', 'list', '--account', account]);
  expect(audit.stdout).toMatch(/ \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /);
});

test('the audit log takes dates, and an unknown action is an error that names those that there are', async () => {
  const today = new Date().toISOString().slice(0, 10);
  const made = await stack.json<{ entries: unknown[] }>(
    'audit',
    'list',
    '--account',
    account,
    '--from',
    today,
    '--to',
    today,
  );
  expect(made.entries).toHaveLength(1);
  const unknown = await stack.run(['audit', 'list', '--action', 'acount_blocked']);
  expect(unknown.code).toBe(1);
  expect(unknown.stderr).toMatch(/action: must be one of account_blocked, .*, webhook_secret_rotated/);
});
