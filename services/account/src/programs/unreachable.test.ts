import { expect, test } from '@jest/globals';
import { freePort } from '@tollgate/stack/ports';
import { createDatabase } from '@tollgate/testbed/database';
import { runProgram } from '../../test/suite/programs.ts';
import { startTcpRelay } from '@tollgate/testbed/tcp-relay';

/** Programs that run in Jobs and init containers say why they can't reach Postgres. */

const SECRETS = {
  CLIENT_SECRET_PEPPERS: `p1:${Buffer.alloc(32).toString('base64')}`,
  TOKEN_SEALING_KEYS: `k1:${Buffer.alloc(32).toString('base64')}`,
};

test.each(['migrate', 'reseal', 'seed'])('%s: nothing listens', async (program) => {
  const address = `127.0.0.1:${String(await freePort())}`;
  const settings = { DATABASE_URL: `postgres://u:hunter2@${address}/x`, ...SECRETS };
  const { code, stdout, stderr } = await runProgram(`programs/${program}`, settings, '{"accounts":[]}');
  expect(code).toBe(1);
  expect(stdout + stderr).toContain(`Postgres at ${address}: connect ECONNREFUSED`);
  expect(stdout + stderr).not.toMatch(/pool is probably full|hunter2/);
});

test('migrate: it accepts connections and never answers', async () => {
  const database = await createDatabase();
  const proxy = await startTcpRelay(database.url);
  proxy.pause();
  const { code, stdout } = await runProgram('programs/migrate', { DATABASE_URL: proxy.url });
  expect([code, stdout]).toEqual([
    1,
    expect.stringContaining(`Postgres at ${new URL(proxy.url).host}: no answer within 9000 ms`),
  ]);
  await proxy.close();
  await database.drop();
});

test('migrate: the password is wrong', async () => {
  const database = await createDatabase();
  const url = new URL(database.url);
  url.password = 'wrong';
  const { code, stdout } = await runProgram('programs/migrate', { DATABASE_URL: url.href });
  expect([code, stdout]).toEqual([1, expect.stringContaining('password authentication failed')]);
  await database.drop();
});
