import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  USAGE_BATCH_FIELD,
  usageFloorKey,
  usageLane,
  usageLanesKey,
  usageMovedKey,
  usageSnapshotSchema,
  usageStreamKey,
} from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { becomeReady, startServiceProcess } from '@tollgate/testbed/service-process';
import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { endPeriod, grantNow, newPayer, periodClosed, settledOf } from '../../../test/suite/credits.ts';
import type { Payer } from '../../../test/suite/credits.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { allCounted, usageBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';
import type { LockInstant } from '../../billing/credits/changes.ts';
import { createQuery, createTransact } from '../../platform/database/query.ts';
import { findLaneCount } from '../../platform/usage-lanes.ts';
import { createLockInstant } from '../stream/lock-instant.ts';

const LANES = 4;

let suite: AccountUnderTest;
let further: ServiceProcess[] = [];

beforeEach(async () => {
  suite = await startAccount({ settings: { USAGE_LANES: '1', CLOSING_DELAY_SEC: '0' } });
  // What the tests hold is there once the reader has begun.
  await waitFor(async () => (await positionsOf(usageStreamKey(0))).length > 0);
});

afterEach(async () => {
  await Promise.all(further.map((replica) => replica.stop()));
  further = [];
  await suite.close();
});

const positionsOf = (stream: string) => suite.database('usage_stream_positions').where({ stream });

/** A replica with another setting, beside the suite's. */
async function askFor(lanes: number | null): Promise<void> {
  const { USAGE_LANES: _, ...settings } = suite.settings;
  const setting = lanes === null ? {} : { USAGE_LANES: String(lanes) };
  const replica = await startServiceProcess('account', { ...settings, ...setting });
  further.push(replica);
  await becomeReady(replica);
}

/** Two that move to other lanes and one that stays. */
async function newPayers(): Promise<{ moving: Payer; other: Payer; staying: Payer }> {
  const all: Payer[] = [];
  for (let made = 0; made < LANES; made += 1) all.push(await newPayer(suite));
  const [moving, other] = all.filter(({ payer_id }) => payer_id % LANES !== 0);
  const staying = all.find(({ payer_id }) => payer_id % LANES === 0);
  if (moving === undefined || other === undefined || staying === undefined) throw new Error('no payers');
  return { moving, other, staying };
}

/** 3 points, as a gateway that knows of so many lanes records them. */
function use(payer: Payer, lanes: number): Promise<string | null> {
  const stream = usageStreamKey(usageLane(payer.payer_id, lanes));
  return suite.store.xadd(
    stream,
    '*',
    USAGE_BATCH_FIELD,
    JSON.stringify(usageBatch([usageEvent({ ...payer, points: 3 })])),
  );
}

/** Nothing of the first lane is counted until the returned function is called. */
async function holdFirstLane(): Promise<() => Promise<void>> {
  const held = await suite.database.transaction();
  // A replica starts meanwhile.
  await held.raw('SET LOCAL idle_in_transaction_session_timeout = 0');
  await held('usage_stream_positions')
    .where({ stream: usageStreamKey(0) })
    .forUpdate()
    .first();
  return async () => {
    await held.commit();
  };
}

const told = (lanes: number) =>
  waitFor(async () => (await suite.store.get(usageLanesKey(lanes - 1))) === String(lanes));

const laneCount = () => findLaneCount(createQuery(suite.database));

const grown = (lanes: number) =>
  waitFor(async () => {
    const count = await laneCount();
    return count.lanes === lanes && count.before === null;
  });

const lockInstant: LockInstant = (query, payerId) => createLockInstant(suite.store)(query, payerId);

async function waitingForPositions(): Promise<number> {
  const { rows } = await suite.database.raw<{ rows: { waiting: number }[] }>(
    `SELECT CAST(count(*) AS integer) AS waiting FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%ORDER BY stream FOR UPDATE%'`,
  );
  return rows[0]?.waiting ?? 0;
}

const snapshot = ({ period_id }: Payer) =>
  getPrivate(suite.account, `/private/usage-snapshots/${String(period_id)}`);

const snapshotOf = async (payer: Payer) => usageSnapshotSchema.parse(await (await snapshot(payer)).json());

async function pointsOf({ period_id }: Payer): Promise<number> {
  const [total] = await suite.database('usage_totals').where({ period_id }).pluck<number[]>('points');
  return total ?? 0;
}

test('usage of a new lane is counted once all of before is, and until then nothing of its payers is settled or told', async () => {
  const { moving, other, staying } = await newPayers();
  await use(moving, 1);
  await allCounted(suite);
  const release = await holdFirstLane();
  await use(moving, 1);
  await askFor(LANES);
  await told(LANES);
  await use(moving, LANES);
  await use(other, LANES);
  await use(staying, LANES);
  await endPeriod(suite, moving.period_id);
  await endPeriod(suite, other.period_id);
  // Waits longer than for the end of a growth that isn't held up.
  expect((await snapshot(moving)).status).toBe(503);
  expect([await pointsOf(moving), await pointsOf(other)]).toEqual([3, 0]);
  expect(await settledOf(suite, moving.period_id)).toMatchObject({ closed_points: null });

  await release();
  await grown(LANES);
  await allCounted(suite);
  expect(await snapshotOf(moving)).toMatchObject({
    points: 9,
    usage_lane: usageLane(moving.payer_id, LANES),
    usage_lanes: LANES,
  });
  expect(await snapshotOf(staying)).toMatchObject({ points: 3, usage_lane: 0, usage_lanes: LANES });
  await periodClosed(suite, moving.period_id);
  await periodClosed(suite, other.period_id);
  expect(await settledOf(suite, moving.period_id)).toMatchObject({ closed_points: 9 });
  expect(await settledOf(suite, other.period_id)).toMatchObject({ closed_points: 3 });
});

test('an instant of a payer that moves is behind both lanes, and waits for what is being counted of them', async () => {
  const { moving, staying } = await newPayers();
  const release = await holdFirstLane();
  const last = await use(moving, 1);
  await askFor(LANES);
  await told(LANES);
  const instant = createTransact(suite.database)((query) => lockInstant(query, moving.payer_id));
  const own = createTransact(suite.database)((query) => lockInstant(query, staying.payer_id));
  await waitFor(async () => (await waitingForPositions()) === 2);
  await release();
  expect(await instant).toBeGreaterThan(Number(last?.split('-')[0]));
  await own;
  // Once it has moved, its lane is all that is locked.
  await grown(LANES);
  const releaseAgain = await holdFirstLane();
  await createTransact(suite.database)((query) => lockInstant(query, moving.payer_id));
  await releaseAgain();
});

test('new streams go on behind the former one, and settlements need no priming where that had none', async () => {
  const { moving } = await newPayers();
  const last = await use(moving, 1);
  await suite.store.set(usageFloorKey(0), 'the data set');
  await askFor(LANES);
  await grown(LANES);
  const lane = usageLane(moving.payer_id, LANES);
  expect(await suite.store.get(usageFloorKey(lane))).toBe('the data set');
  const facts = (await suite.store.xinfo('STREAM', usageStreamKey(lane))) as unknown[];
  expect(facts[facts.indexOf('last-generated-id') + 1]).toBe(last);
});

test('a payer that has moved is known by what it had used until then, and at instants of its credits', async () => {
  const { moving } = await newPayers();
  await use(moving, 1);
  await allCounted(suite);
  const { usable_from } = await grantNow(suite, moving.payer_id);
  const last = await use(moving, 1);
  await allCounted(suite);
  await askFor(LANES);
  await grown(LANES);
  expect(await snapshotOf(moving)).toMatchObject({
    points: 6,
    stream_position: last,
    cuts: [{ at_ms: usable_from.getTime(), points: 3 }],
  });
});

test('it goes on after a process that ended at any step, and with what Redis has lost', async () => {
  const { moving } = await newPayers();
  const release = await holdFirstLane();
  await use(moving, 1);
  await askFor(LANES);
  await told(LANES);
  // As if it had ended between the script and its commit, or before the script.
  await suite.database('usage_lanes').update({ moved_after: null });
  await use(moving, LANES);
  await waitFor(async () => (await laneCount()).isTold);
  await suite.store.flushall();
  await release();
  await grown(LANES);
  await use(moving, LANES);
  await allCounted(suite);
  expect(await snapshotOf(moving)).toMatchObject({ points: 3, usage_lanes: LANES });
});

test('Postgres restored to before it: what gateways know is taken over', async () => {
  const { moving } = await newPayers();
  await askFor(LANES);
  await grown(LANES);
  await Promise.all(further.map((replica) => replica.stop()));
  further = [];
  await suite.database('usage_lanes').update({ lanes: 1 });
  await use(moving, LANES);
  // As a restart does it.
  await askFor(null);
  await grown(LANES);
  await allCounted(suite);
  expect(await snapshotOf(moving)).toMatchObject({ points: 3, usage_lanes: LANES });
});

test('Postgres restored to before it, and more lanes asked for: those of Redis come first', async () => {
  await askFor(LANES);
  await grown(LANES);
  await Promise.all(further.map((replica) => replica.stop()));
  further = [];
  await suite.database('usage_lanes').update({ lanes: 1 });
  await askFor(4 * LANES);
  await grown(4 * LANES);
  // Each lane that Redis had is waited for.
  expect(await suite.store.exists(usageMovedKey(LANES - 1))).toBe(1);
});

test('from one lane to as many as a Redis Cluster has, in two steps', async () => {
  const { moving, staying } = await newPayers();
  for (const lanes of [LANES, 64]) {
    await askFor(lanes);
    await grown(lanes);
    await use(moving, lanes);
    await use(staying, lanes);
  }
  await allCounted(suite);
  for (const payer of [moving, staying]) {
    expect(await snapshotOf(payer)).toMatchObject({ points: 6, usage_lane: payer.payer_id % 64 });
  }
});
