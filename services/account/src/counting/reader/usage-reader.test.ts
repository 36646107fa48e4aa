import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { MAX_TOTAL, USAGE_SHARD_COUNT, usageStreamKey } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { accountMetric } from '../../../test/suite/metrics.ts';
import { insertAccount, insertApplication, insertPeriod } from '../../../test/suite/database/records.ts';
import { getUsage, obtainToken } from '../../../test/suite/requests.ts';
import {
  appendBatch,
  allCounted,
  countedUsage,
  sumOf,
  usageEvent,
} from '../../../test/suite/usage/usage-streams.ts';

let suite: AccountUnderTest;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(async () => {
  await suite.close();
});

beforeEach(async () => {
  await suite.database.raw('TRUNCATE usage_totals, usage_hourly, usage_unassigned');
});

/** A payer with a period, as the events of its calls name them. */
async function newPayer(): Promise<{ payer_id: number; account_id: number; period_id: number }> {
  const account_id = await insertAccount(suite.database);
  return { payer_id: account_id, account_id, period_id: await insertPeriod(suite.database, account_id) };
}

const metric = (name: string) => accountMetric(suite.account, `tollgate_usage_reader_${name}`);

describe('the usage reader', () => {
  test('shows a finished call in GET /api/usage', async () => {
    const payer = await newPayer();
    const token = await obtainToken(suite.auth, await insertApplication(suite.database, payer.account_id));
    await appendBatch(suite.store, [usageEvent({ ...payer, points: 7, time_ms: 2_500, traffic_bytes: 900 })]);
    const usage = await waitFor(async () => {
      const { billing_period } = (await (await getUsage(suite.account, token)).json()) as {
        billing_period: { usage: Record<string, number> };
      };
      return billing_period.usage['requests_usage'] === 1 && billing_period.usage;
    });
    expect(usage).toEqual({
      points_usage: 7,
      requests_usage: 1,
      time_sec_usage: 2,
      traffic_bytes_usage: 900,
    });
  });

  test('counts the first call after a silence at once, whatever the interval', async () => {
    const slow = await startAccount({ settings: { USAGE_POLL_INTERVAL_MS: '10000' } });
    try {
      const account_id = await insertAccount(slow.database);
      const period_id = await insertPeriod(slow.database, account_id);
      const event = usageEvent({ payer_id: account_id, account_id, period_id });
      await waitFor(async () => (await accountMetric(slow.account, 'tollgate_usage_reader_streams')) > 0);
      await appendBatch(slow.store, [event]);
      // Before the interval is over.
      await waitFor(async () => (await countedUsage(slow.database)).totals.requests === 1, {
        timeoutMs: 9_000,
      });
    } finally {
      await slow.close();
    }
  });

  test('adds the calls of a team to one period, and keeps them apart by hour, account and version', async () => {
    const payer = await newPayer();
    const at_ms = Math.floor(Date.now() / 3_600_000) * 3_600_000;
    const member_id = await insertAccount(suite.database);
    const events = [
      usageEvent({ ...payer, at_ms }),
      usageEvent({ ...payer, at_ms: at_ms + 1 }),
      usageEvent({ ...payer, at_ms: at_ms - 1 }),
      usageEvent({ ...payer, at_ms, api_version: 'v1' }),
      usageEvent({ ...payer, at_ms, account_id: member_id }),
    ];
    await appendBatch(suite.store, events);
    await allCounted(suite);
    const { totals, hourly } = await countedUsage(suite.database);
    expect([totals, hourly]).toEqual([sumOf(events), sumOf(events)]);
    const rows = await suite
      .database('usage_hourly')
      .orderBy(['hour', 'account_id', 'api_version'])
      .select<{ hour: Date; account_id: number; api_version: string; requests: number }[]>();
    expect(rows.map((row) => [row.hour.getTime(), row.account_id, row.api_version, row.requests])).toEqual([
      [at_ms - 3_600_000, payer.account_id, 'v2', 1],
      [at_ms, payer.account_id, 'v1', 1],
      [at_ms, payer.account_id, 'v2', 2],
      [at_ms, member_id, 'v2', 1],
    ]);
  });

  test('keeps when each application was last used, to the minute and never earlier', async () => {
    const payer = await newPayer();
    const at_ms = Date.UTC(2026, 10, 1, 12);
    const [one, other] = [900_001, 900_002];
    const uses = async () => {
      const rows = await suite
        .database('application_uses')
        .whereIn('application_id', [0, one, other])
        .orderBy('application_id')
        .select<{ application_id: number; last_used_at: Date }[]>();
      return rows.map(({ application_id, last_used_at }) => [application_id, last_used_at.getTime() - at_ms]);
    };
    const use = async (...events: [application_id: number, afterMs: number][]) => {
      const made = events.map(([application_id, afterMs]) =>
        usageEvent({ ...payer, application_id, at_ms: at_ms + afterMs }),
      );
      await appendBatch(suite.store, made);
      await allCounted(suite);
    };
    await use([other, 5], [one, 1_000], [one, 0], [0, 0]);
    expect(await uses()).toEqual([
      [one, 1_000],
      [other, 5],
    ]);
    await use([one, 60_999], [other, 60_005]);
    expect(await uses()).toEqual([
      [one, 1_000],
      [other, 60_005],
    ]);
    await use([one, 61_000], [other, -90_000]);
    expect(await uses()).toEqual([
      [one, 61_000],
      [other, 60_005],
    ]);
  });

  test('makes the partitions of the months that calls fall into, in UTC', async () => {
    const payer = await newPayer();
    const now = new Date();
    const firsts = [-11, -3, -2].map((months) =>
      Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1),
    );
    await appendBatch(
      suite.store,
      firsts.flatMap((first) => [first, first - 1]).map((at_ms) => usageEvent({ ...payer, at_ms })),
    );
    await allCounted(suite);
    expect((await countedUsage(suite.database)).hourly.requests).toBe(6);
    const names = firsts.map(
      (first) => `usage_hourly_${new Date(first).toISOString().slice(0, 7).replace('-', '_')}`,
    );
    for (const name of names) {
      const rows = await suite.database(name).select<{ requests: number }[]>();
      expect(rows.length).toBeGreaterThan(0);
    }
  });

  test('keeps what it cannot count, counts all around it, and goes on', async () => {
    const payer = await newPayer();
    const good = usageEvent(payer);
    const key = usageStreamKey(payer.payer_id % USAGE_SHARD_COUNT);
    const before = { events: await metric('events_total'), unassigned: await metric('unassigned_total') };
    await appendBatch(suite.store, [good]);
    await suite.store.xadd(key, '*', 'batch', '{"gateway_id":');
    await suite.store.xadd(key, '*', 'batch', 'nul \0 and \ud800');
    await suite.store.xadd(key, '*', 'something', 'else');
    await suite.store.xadd(key, '*', Buffer.from([0xff, 0xfe]), Buffer.from([0xc3, 0x28]));
    await appendBatch(suite.store, [good, usageEvent({ ...payer, period_id: 987_654_321 }), good]);
    await appendBatch(suite.store, [
      good,
      { ...good, points: 'many' } as never,
      usageEvent({ ...payer, at_ms: 1 }),
    ]);
    await appendBatch(suite.store, [usageEvent({ ...payer, account_id: Number.MIN_SAFE_INTEGER })]);
    await appendBatch(suite.store, [good]);
    await allCounted(suite);

    const { totals, hourly } = await countedUsage(suite.database);
    expect([totals.requests, hourly.requests]).toEqual([6, 6]);
    const kept = await suite
      .database('usage_unassigned')
      .orderBy('unassigned_id')
      .select<{ stream: string; event_index: number | null; reason: string; raw: string }[]>();
    expect(kept.map(({ reason }) => reason).toSorted()).toEqual([
      'implausible_time',
      'malformed_batch',
      'malformed_batch',
      'malformed_batch',
      'malformed_batch',
      'malformed_event',
      'unknown_period',
    ]);
    expect(new Set(kept.map(({ stream }) => stream))).toEqual(new Set([key]));
    const unknown = kept.find(({ reason }) => reason === 'unknown_period');
    expect(unknown?.event_index).toBe(1);
    expect(JSON.parse(unknown?.raw ?? '')).toMatchObject({ period_id: 987_654_321 });
    expect((await metric('events_total')) - before.events).toBe(6);
    expect((await metric('unassigned_total')) - before.unassigned).toBe(7);
  });

  test('sets aside what would take a total beyond 2^53 - 1, and counts all around it', async () => {
    const [payer, full] = [await newPayer(), await newPayer()];
    await suite.database('usage_totals').insert({
      period_id: full.period_id,
      points: MAX_TOTAL - 4,
      requests: 0,
      time_ms: 0,
      traffic_bytes: 0,
    });
    const event = usageEvent({ ...full, points: 3 });
    await appendBatch(suite.store, [event, event, { ...event, points: 1 }]);
    await appendBatch(suite.store, [usageEvent(payer)]);
    await allCounted(suite);
    const totalOf = ({ period_id }: { period_id: number }) =>
      suite.database('usage_totals').where({ period_id }).first<{ points: number; requests: number }>();
    expect(await totalOf(full)).toMatchObject({ points: MAX_TOTAL, requests: 2 });
    expect(await totalOf(payer)).toMatchObject({ requests: 1 });
    const kept = await suite.database('usage_unassigned').select<{ reason: string; event_index: number }[]>();
    expect(kept).toMatchObject([{ reason: 'total_too_large', event_index: 1 }]);
  });

  test("sets aside usage on another payer's period", async () => {
    const [payer, other] = [await newPayer(), await newPayer()];
    await appendBatch(suite.store, [usageEvent({ ...payer, period_id: other.period_id }), usageEvent(payer)]);
    await allCounted(suite);
    expect(await suite.database('usage_totals').pluck('period_id')).toEqual([payer.period_id]);
    expect(await suite.database('usage_unassigned').pluck('reason')).toEqual(['other_payers_period']);
  });

  test('removes from the streams what is counted', async () => {
    const payer = await newPayer();
    for (let seq = 1; seq <= 5; seq += 1) await appendBatch(suite.store, [usageEvent(payer)]);
    await allCounted(suite);
    expect(await suite.store.xlen(usageStreamKey(payer.payer_id % USAGE_SHARD_COUNT))).toBe(0);
  });

  test('passes over entries that are counted already, where the trim did not come to pass', async () => {
    const payer = await newPayer();
    await suite.account.kill();
    const event = usageEvent(payer);
    for (let seq = 1; seq <= 3; seq += 1) await appendBatch(suite.store, [event]);
    const key = usageStreamKey(payer.payer_id % USAGE_SHARD_COUNT);
    const entries = await suite.store.xrange(key, '-', '+');
    await suite
      .database('usage_stream_positions')
      .where({ stream: key })
      .update({ position: entries[1]?.[0] ?? '' });
    await suite.account.restart();
    await allCounted(suite);
    expect((await countedUsage(suite.database)).totals.requests).toBe(1);
  });
});
