import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MAX_TOTAL, usageLiveKey, usageShard } from '@tollgate/contracts/usage-stream';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { writeLiveCounters } from '@tollgate/testbed/live-counters';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { operatePath, operatorCredentials } from '../../../test/suite/operator.ts';
import { insertAccount, insertPeriod, secondsFromNow } from '../../../test/suite/database/records.ts';
import { allCounted, appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';

const DAY_MS = 86_400_000;
const PATH = '/private/usage-unassigned';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount({ settings: { OPERATOR_CREDENTIALS: operatorCredentials } });
});

afterAll(async () => {
  await suite.close();
});

beforeEach(async () => {
  await suite.database.raw('TRUNCATE usage_unassigned');
});

async function newPayer() {
  const payer_id = await insertAccount(suite.database);
  const period_id = await insertPeriod(suite.database, payer_id);
  return { payer_id, period_id, event: usageEvent({ payer_id, account_id: payer_id, period_id }) };
}

type Row = Record<string, unknown> & { unassigned_id: number; events: UsageEvent[] | null };

const list = async (query = '') => {
  const { status, body } = await operatePath(suite.account, 'GET', `${PATH}?${query}`);
  expect(status).toBe(200);
  return body['unassigned'] as Row[];
};

/** Has one event set aside, and gives its row. */
async function setAside(event: UsageEvent): Promise<Row> {
  await appendBatch(suite.store, [event]);
  await allCounted(suite);
  const [row] = await list();
  if (row === undefined) throw new Error('nothing was set aside');
  return row;
}

const count = ({ unassigned_id }: Row, body: object = {}) =>
  operatePath(suite.account, 'POST', `${PATH}/${String(unassigned_id)}/count`, body);

async function counted(period_id: number) {
  const check = await operatePath(suite.account, 'POST', '/private/usage-checks', { period_id });
  expect(check.body).toMatchObject({ checked: 1, differences: [] });
  const total = await suite
    .database('usage_totals')
    .where({ period_id })
    .first<{ points: number } | undefined>();
  return total?.points ?? 0;
}

test('what was set aside is listed with why, in words and a code, and shown with what came', async () => {
  const { event } = await newPayer();
  const late = { ...event, at_ms: Date.now() + 2 * DAY_MS };
  const row = await setAside(late);
  expect(row).toMatchObject({
    reason: 'implausible_time',
    event_index: 0,
    events: [late],
    counted_at: null,
    explanation: expect.stringMatching(/clock/),
  });
  const shown = await operatePath(suite.account, 'GET', `${PATH}/${String(row.unassigned_id)}`);
  expect(shown.body).toEqual({ ...row, raw: JSON.stringify(late) });
  expect(await list('reason=unknown_period')).toEqual([]);
  expect(await list('counted=false')).toHaveLength(1);
  expect(await list('counted=true')).toEqual([]);
  expect((await operatePath(suite.account, 'GET', `${PATH}/999999`)).status).toBe(404);
});

describe('counted later', () => {
  test('usage of a gateway with a wrong clock goes to the period that it names, when Redis took it', async () => {
    const { event, period_id } = await newPayer();
    const row = await setAside({ ...event, at_ms: Date.now() + 400 * DAY_MS });
    const { status, body } = await count(row);
    expect([status, body]).toMatchObject([200, { changed: true, counted_period_id: period_id }]);
    expect(await counted(period_id)).toBe(3);
    const [hourly] = await suite.database('usage_hourly').where({ period_id }).select<{ hour: Date }[]>();
    expect(Math.abs(Date.now() - +(hourly?.hour ?? 0))).toBeLessThan(2 * 3_600_000);
  });

  test('usage of an unknown period goes to the one that covers its time, or to the one that is named', async () => {
    const { event, payer_id, period_id } = await newPayer();
    const other = await insertPeriod(suite.database, payer_id, {
      started_at: secondsFromNow(-40 * 86_400),
      ended_at: secondsFromNow(-10 * 86_400),
      grace_sec: 0,
    });
    const first = await setAside({ ...event, period_id: 987_654_321 });
    expect((await count(first)).body).toMatchObject({ counted_period_id: period_id });
    const past = await setAside({ ...event, period_id: 987_654_321, at_ms: Date.now() - 20 * DAY_MS });
    expect((await count(past)).body).toMatchObject({ counted_period_id: other });
    const named = await setAside({ ...event, period_id: 987_654_321 });
    expect((await count(named, { period_id: other })).body).toMatchObject({ counted_period_id: other });
    expect([await counted(period_id), await counted(other)]).toEqual([3, 6]);
  });

  test('once, however often and by however many it is asked for, and the audit log has it once', async () => {
    const { event, period_id } = await newPayer();
    const row = await setAside({ ...event, at_ms: Date.now() + 2 * DAY_MS });
    const answers = await Promise.all(Array.from({ length: 8 }, () => count(row)));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(answers.filter(({ body }) => body['changed'] === true)).toHaveLength(1);
    expect((await count(row, { period_id: 1 })).body).toMatchObject({ changed: false });
    expect(await counted(period_id)).toBe(3);
    const log = await suite
      .database('audit_log')
      .where({ action: 'usage_unassigned_counted' })
      .select<{ details: { unassigned_id: number }; before: unknown; after: unknown }[]>();
    expect(log.filter(({ details }) => details.unassigned_id === row.unassigned_id)).toMatchObject([
      {
        before: { counted_at: null, counted_period_id: null },
        after: { counted_at: expect.stringContaining('T'), counted_period_id: period_id },
      },
    ]);
    expect(await list('counted=true')).toMatchObject([{ unassigned_id: row.unassigned_id }]);
  });

  test('live counters, which may hold it already, are built anew', async () => {
    const { event, payer_id, period_id } = await newPayer();
    const live = usageLiveKey(usageShard(payer_id), period_id);
    const row = await setAside({ ...event, at_ms: Date.now() + 2 * DAY_MS });
    await writeLiveCounters(suite.store, live, {
      usage_version: 0,
      points: 3,
      requests: 1,
      time_ms: 0,
      traffic_bytes: 250,
    });
    await count(row);
    await waitFor(async () => (await suite.store.exists(live)) === 0);
  });

  test('an entry that Postgres refused whole is counted event by event', async () => {
    const { event, period_id } = await newPayer();
    await appendBatch(suite.store, [event]);
    await suite.store.xadd(
      `{s${String(usageShard(event.payer_id))}}:usage`,
      '*',
      'batch',
      JSON.stringify({ gateway_id: 'nul \0', seq: 1, events: [event, event] }),
    );
    await allCounted(suite);
    const [row] = await list();
    expect(row).toMatchObject({ reason: 'refused_by_database', event_index: null });
    expect((await count(row as Row)).status).toBe(200);
    expect(await counted(period_id)).toBe(9);
  });

  test('not where nothing can be read, there is no period, or its total would be beyond 2^53 - 1', async () => {
    const { event, payer_id, period_id } = await newPayer();
    const code = async (row: Row, body?: object) => {
      const answer = await count(row, body);
      return [answer.status, answer.body['code']];
    };
    const broken = await setAside({ ...event, points: -1 });
    expect(broken.events).toBeNull();
    expect(await code(broken)).toEqual([409, 'usage_not_readable']);
    const lonely = await insertAccount(suite.database);
    const nowhere = await setAside({
      ...event,
      payer_id: lonely,
      account_id: lonely,
      period_id: 987_654_321,
    });
    expect(await code(nowhere)).toEqual([404, 'no_billing_period']);
    expect(await code(nowhere, { period_id: 987_654_322 })).toEqual([404, 'no_billing_period']);
    const full = await setAside({ ...event, payer_id, at_ms: Date.now() + 2 * DAY_MS });
    await suite.database('usage_totals').insert({
      period_id,
      points: MAX_TOTAL,
      requests: 0,
      time_ms: 0,
      traffic_bytes: 0,
    });
    expect(await code(full)).toEqual([409, 'usage_total_too_large']);
    expect(await list('counted=true')).toEqual([]);
  });
});
