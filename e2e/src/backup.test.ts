import { readFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually, obtainToken, postGraphql, readUsage, settledUsage } from './caller.ts';
import { operate } from './operate.ts';
import { startContainerStack } from './stack/containers.ts';
import type { ContainerStack } from './stack/containers.ts';

/** docs/backup.md, performed: every step there is a step here. */

const TIME_LIMIT_MS = 600_000;
const PAGE = readFileSync(new URL('../../docs/backup.md', import.meta.url), 'utf8');
const QUERY = '{ country(code: "IS") { name } }';

let stack: ContainerStack;
/** Mounted in Postgres' container as /backup; a real installation uses other storage. */
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tollgate-backup-'));
  await chmod(directory, 0o777);
  stack = await startContainerStack({
    directories: { '/backup': directory },
    settings: settingsOf(0),
  });
}, TIME_LIMIT_MS);

afterAll(async () => {
  // Postgres' user owns the files, and only its container may remove them.
  await stack.exec('postgres', ['sh', '-c', 'rm -rf /backup/*']).catch(() => undefined);
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
});

/** Those of a block of the page, as they stand there. */
function settingsOf(index: number): Record<string, string> {
  const [, block = ''] = [...PAGE.matchAll(/^ *```ini\n([^]*?)^ *```/gm)][index] ?? [];
  const settings = [...block.matchAll(/^ *(\w+) = (?:'([^']*)'|(.*))$/gm)];
  return Object.fromEntries(settings.map(([, name = '', quoted, plain]) => [name, quoted ?? plain ?? '']));
}

const inPostgres = (command: string) => stack.exec('postgres', ['sh', '-ec', command]);

const sql = async (statement: string, database = 'tollgate') =>
  (
    await stack.exec('postgres', [
      'psql',
      '--username=tollgate',
      `--dbname=${database}`,
      '--tuples-only',
      '--no-align',
      '--set=ON_ERROR_STOP=1',
      `--command=${statement}`,
    ])
  ).trim();

/** Calls without a pause until it is stopped. `answered` counts those with 200, `refused` the others by status. */
function callAllTheTime(token: string) {
  let isDone = false;
  const counts = { answered: 0, refused: new Map<number, number>() };
  const caller = async () => {
    while (!isDone) {
      const response = await postGraphql(stack.demo, token, QUERY);
      await response.arrayBuffer();
      if (response.status === 200) counts.answered += 1;
      else counts.refused.set(response.status, (counts.refused.get(response.status) ?? 0) + 1);
    }
  };
  const callers = [caller(), caller()];
  const stop = async () => {
    isDone = true;
    await Promise.all(callers);
    return counts;
  };
  return { counts, stop };
}

const tollgate = async (...args: string[]) => {
  const { client_id, client_secret } = stack.demo.private;
  const env = { TOLLGATE_CREDENTIAL: `${client_id}:${client_secret}` };
  return JSON.parse(await stack.exec('account', ['tollgate', ...args, '--json'], env)) as Record<
    string,
    unknown
  >;
};

test(
  'base backup, WAL, restore to a point in time, and repair, while customers call',
  async () => {
    const { demo } = stack;
    const token = await obtainToken(demo, demo.application);
    const usedBefore = (await settledUsage(demo, token)).billing_period.usage.requests_usage;
    const load = callAllTheTime(token);
    await eventually(
      () => Promise.resolve(load.counts.answered),
      (answered) => answered > 50,
      60_000,
    );

    // "Base backup"
    await inPostgres(
      'pg_basebackup --username=tollgate --pgdata=/backup/base --wal-method=stream --checkpoint=fast',
    );
    await inPostgres('pg_verifybackup /backup/base');

    // What happens after the base backup is only in the WAL.
    const path = `/private/applications/${String(demo.application.application_id)}/tokens`;
    const manual = await operate<{ access_token: string }>(demo, 'POST', path, { name: 'after the backup' });
    const afterBackup = load.counts.answered;
    await eventually(
      () => Promise.resolve(load.counts.answered),
      (answered) => answered > afterBackup + 50,
      60_000,
    );
    const name = await sql(`SELECT name FROM accounts WHERE account_id = ${String(demo.account_id)}`);
    const goodTime = await sql('SELECT clock_timestamp()');

    // A mistake, and calls that go on after it.
    await sql("UPDATE accounts SET name = 'Overwritten'");
    const afterMistake = load.counts.answered;
    await eventually(
      () => Promise.resolve(load.counts.answered),
      (answered) => answered > afterMistake + 50,
      60_000,
    );
    await sql('SELECT pg_switch_wal()');
    const isArchived = async () =>
      (await sql(
        "SELECT last_archived_time > clock_timestamp() - interval '1 minute' FROM pg_stat_archiver",
      )) === 't';
    await eventually(isArchived, Boolean, 60_000);

    // "Restore to a point in time", on another server.
    await inPostgres('cp -r /backup/base /backup/restored && touch /backup/restored/recovery.signal');
    await stack.replacePostgres({
      directories: { '/backup': directory },
      env: { PGDATA: '/backup/restored' },
      settings: { ...settingsOf(1), recovery_target_time: goodTime },
    });
    await eventually(
      async () => sql('SELECT pg_is_in_recovery()'),
      (answer) => answer === 'f',
      60_000,
    );

    // "Repair the counters": the services have found the restored server by themselves.
    await eventually(
      () => tollgate('usage', 'repair', '--restored', '--yes').catch(() => null),
      (answer) => answer?.['checked_streams'] === 64,
      60_000,
    );
    const { answered, refused } = await load.stop();

    expect(await sql(`SELECT name FROM accounts WHERE account_id = ${String(demo.account_id)}`)).toBe(name);
    const call = await postGraphql(demo, manual.access_token, QUERY);
    expect(call.status).toBe(200);
    // While Postgres was away a call may get 503; never a refusal that blames the caller.
    expect([...refused.keys()].filter((status) => status !== 503)).toEqual([]);
    const wanted = usedBefore + answered + 1;
    const used = async () => (await readUsage(demo, token)).billing_period.usage.requests_usage;
    expect(await eventually(used, (requests) => requests >= wanted, 60_000)).toBe(wanted);
    expect(await tollgate('usage', 'check')).toMatchObject({ differences: [] });
    expect(await tollgate('usage', 'repair', '--yes')).toMatchObject({
      rolled_back_streams: [],
      repaired_periods: 0,
      recovered: { points: 0 },
    });
  },
  TIME_LIMIT_MS,
);

test(
  'a dump of the running stack is of one moment, and is restored into an empty database',
  async () => {
    const token = await obtainToken(stack.demo, stack.demo.application);
    const load = callAllTheTime(token);
    await eventually(
      () => Promise.resolve(load.counts.answered),
      (answered) => answered > 20,
      60_000,
    );
    // "Dump"
    await inPostgres('pg_dump --username=tollgate --format=custom --file=/backup/tollgate.dump tollgate');
    await load.stop();
    // "Restore a dump"
    await inPostgres('createdb --username=tollgate elsewhere');
    await inPostgres(
      'pg_restore --username=tollgate --dbname=elsewhere --exit-on-error --no-owner /backup/tollgate.dump',
    );
    const sums = (table: string) => sql(`SELECT sum(requests), sum(points) FROM ${table}`, 'elsewhere');
    expect(await sums('usage_totals')).toMatch(/^\d+\|\d+$/);
    expect(await sums('usage_hourly')).toBe(await sums('usage_totals'));
    const migrations = (database: string) => sql('SELECT count(*) FROM knex_migrations', database);
    expect(await migrations('elsewhere')).toBe(await migrations('tollgate'));
  },
  TIME_LIMIT_MS,
);
