import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { ownProcesses } from '@tollgate/testbed/config';
import { newOwner } from '../../../test/suite/console.ts';
import type { Owner } from '../../../test/suite/console.ts';
import { insertPeriod } from '../../../test/suite/database/records.ts';
import { requestExport, unzipped } from '../../../test/suite/contract/exports.ts';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { countPastUsage } from '../../../test/suite/usage/usage-rows.ts';

/** Its memory is measured. */
ownProcesses();

/** An account with so much usage that its export lasts until the response is read. */
const HOURS = 500;
const APPLICATIONS = 600;
const LAST_HOUR = new Date(Date.parse('2026-10-02T00:00:00Z') + (HOURS - 1) * 3_600_000);
/** A query of all rows, and its end, may take as long where other suites run. */
const BUSY_MACHINE_MS = 60_000;
const MB = 1_000_000;
/** All rows at once would be over 200 MB. Where the machine is busy, garbage waits longer to be collected. */
const MEMORY_GROWTH_MAX = 120 * MB;

let suite: PeopleUnderTest;
let owner: Owner;

beforeAll(async () => {
  suite = await startPeople();
  owner = await newOwner(suite);
  const { account_id } = owner;
  const period_id = await insertPeriod(suite.database, account_id);
  // Creates the partition.
  const at = new Date('2026-10-01T00:30:00Z');
  await countPastUsage(suite.database, [{ at, payer_id: account_id, account_id, period_id, points: 1 }]);
  // Where the machine is busy, it takes longer than the suite's limit of a statement.
  await withClient(suite.settings['DATABASE_URL'] ?? '', (client) =>
    client.query(
      `INSERT INTO usage_hourly
       (hour, period_id, account_id, application_id, api_version, points, requests, time_ms, traffic_bytes)
     SELECT CAST('2026-10-02T00:00:00Z' AS timestamptz) + hours * interval '1 hour', $1, $2, 1000000 + applications,
            'v2', floor(random() * 1e9), floor(random() * 1e9), floor(random() * 1e9), floor(random() * 1e12)
     FROM generate_series(0, $3) AS hours CROSS JOIN generate_series(1, $4) AS applications`,
      [period_id, account_id, HOURS - 1, APPLICATIONS],
    ),
  );
});

const opened: IncomingMessage[] = [];

afterEach(() => {
  for (const response of opened.splice(0)) response.destroy();
});

afterAll(async () => {
  await suite.close();
});

/** The export's connection, while it waits for its client. */
async function waitingBackends(): Promise<number[]> {
  const { rows } = await suite.database.raw<{ rows: { pid: number }[] }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND state = 'idle in transaction' AND query LIKE '%FROM usage_hourly%'`,
  );
  return rows.map(({ pid }) => pid);
}

async function residentBytes(): Promise<number> {
  const metrics = await (await fetch(`${suite.account.privateUrl}/metrics`)).text();
  return Number(/^process_resident_memory_bytes(?:\{.*\})? (.*)$/m.exec(metrics)?.[1]);
}

/** The response of an export, once the one before it has ended. */
function acceptedExport(): Promise<IncomingMessage> {
  return waitFor(
    async () => {
      const response = await requestExport(suite.account, owner.browser);
      opened.push(response);
      if (response.statusCode === 200) return response;
      response.resume();
      return undefined;
    },
    { timeoutMs: BUSY_MACHINE_MS },
  );
}

/** An export that waits for its client; resolves with its response and connection. */
async function stalledExport() {
  const response = await acceptedExport();
  let pid: number | undefined;
  await waitFor(
    async () => {
      const [first] = await waitingBackends();
      const isSame = first !== undefined && first === pid;
      pid = first;
      return isSame;
    },
    { timeoutMs: BUSY_MACHINE_MS },
  );
  return { response, pid: pid ?? 0 };
}

test('memory is bounded, and all rows are of one moment', async () => {
  const before = await residentBytes();
  const { response } = await stalledExport();
  const later = await suite
    .database('usage_hourly')
    .where({ account_id: owner.account_id, hour: LAST_HOUR })
    .update({ requests: 0 });
  expect(later).toBe(APPLICATIONS);
  const files = await unzipped(await buffer(response));
  const growth = (await residentBytes()) - before;
  const rows = JSON.parse(files.get('usage.json') ?? '') as { points: number; requests: number }[];
  expect(rows).toHaveLength(HOURS * APPLICATIONS + 1);
  expect(rows.filter(({ requests }) => requests === 0).length).toBeLessThan(5);
  const { rows: sums } = await suite.database.raw<{ rows: { points: string }[] }>(
    'SELECT CAST(sum(points) AS text) AS points FROM usage_hourly WHERE account_id = ?',
    [owner.account_id],
  );
  expect(String(rows.reduce((sum, { points }) => sum + points, 0))).toBe(sums[0]?.points);
  expect(files.get('usage.csv')?.split('\r\n')).toHaveLength(HOURS * APPLICATIONS + 3);
  expect(files.get('usage.json')?.length).toBeGreaterThan(60 * MB);
  expect(growth).toBeLessThan(MEMORY_GROWTH_MAX);
}, 180_000);

test('a client that has gone stops the queries, and another export can begin', async () => {
  const { response } = await stalledExport();
  const second = await requestExport(suite.account, owner.browser);
  expect([second.statusCode, second.headers['retry-after']]).toEqual([429, '30']);
  second.resume();
  // None of these counts as one of the hour's ten.
  for (let count = 0; count < 10; count += 1) {
    const refused = await requestExport(suite.account, owner.browser);
    expect(refused.statusCode).toBe(429);
    refused.resume();
  }
  response.destroy();
  await waitFor(async () => (await waitingBackends()).length === 0, { timeoutMs: BUSY_MACHINE_MS });
  await acceptedExport();
});

test('when Postgres is lost the connection breaks, and what arrived is no zip', async () => {
  const { response, pid } = await stalledExport();
  const failure = once(response, 'error') as Promise<[NodeJS.ErrnoException]>;
  await suite.database.raw('SELECT pg_terminate_backend(?)', [pid]);
  const arrived: Buffer[] = [];
  response.on('data', (chunk: Buffer) => arrived.push(chunk));
  const [error] = await failure;
  expect(error.code).toBe('ECONNRESET');
  expect(response.complete).toBe(false);
  expect(arrived.length).toBeGreaterThan(0);
  await expect(unzipped(Buffer.concat(arrived))).rejects.toThrow('End of central directory record');
});
