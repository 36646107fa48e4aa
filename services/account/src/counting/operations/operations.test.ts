import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DURATION_BUCKETS } from '@tollgate/contracts/durations';
import type { UsageEvent } from '@tollgate/contracts/usage-stream';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../../test/suite/account-under-test.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import {
  allCounted,
  appendBatch,
  countedUsage,
  sendBatch,
  usageBatch,
  usageEvent,
  usedOperation,
} from '../../../test/suite/usage/usage-streams.ts';
import { OPERATIONS_PER_DAY } from './store.ts';
import type { OperationRow } from './sum-operations.ts';
import { sumOperations } from './sum-operations.ts';

let suite: AccountUnderTest;
let payer: Pick<UsageEvent, 'payer_id' | 'account_id' | 'period_id'>;

beforeAll(async () => {
  suite = await startAccount();
});

afterAll(() => suite.close());

beforeEach(async () => {
  await suite.database.raw('TRUNCATE usage_operations, operation_documents, usage_hourly');
  const account_id = await insertAccount(suite.database);
  payer = { payer_id: account_id, account_id, period_id: await insertPeriod(suite.database, account_id) };
});

async function count(...events: Partial<UsageEvent>[]): Promise<void> {
  await appendBatch(
    suite.store,
    events.map((event) => usageEvent({ ...payer, ...event })),
  );
  await allCounted(suite);
}

const rows = () =>
  suite.database<OperationRow>('usage_operations').orderBy([{ column: 'points', order: 'desc' }, 'hash']);

function bucketCounts(bucket: number, times: number): number[] {
  return Array.from({ length: DURATION_BUCKETS }, (_, index) => (index === bucket ? times : 0));
}

test('rows hold the points and requests of their events, whatever these state of operations', () => {
  const figure = fc.nat({ max: 20 });
  const operation = fc
    .record({ index: figure, points: figure, requests: figure })
    .map(({ index, ...figures }) => usedOperation(index, figures));
  const event = fc
    .record({
      points: fc.nat({ max: 50 }),
      requests: fc.nat({ max: 50 }),
      application_id: fc.nat({ max: 2 }),
      operations: fc.array(operation, { maxLength: 3 }),
    })
    .map(usageEvent);
  fc.assert(
    fc.property(fc.array(event), (events) => {
      const summed = sumOperations(events);
      for (const field of ['points', 'requests'] as const) {
        const sum = (all: readonly { points: number; requests: number }[]) =>
          all.reduce((total, one) => total + one[field], 0);
        expect(sum(summed)).toBe(sum(events));
      }
    }),
  );
});

describe('usage by operation', () => {
  test('adds up by name and document, application, version and day', async () => {
    const read = usedOperation(1, { name: 'Read', points: 2, errors: 1 });
    await count({ operations: [read] }, { operations: [read], points: 2 });
    await count({ operations: [read], application_id: 2 }, { operations: [{ ...read, name: null }] });
    expect(await rows()).toMatchObject([
      { hash: read.hash, name: 'Read', application_id: 1, points: 4, requests: 2, errors: 2 },
      { hash: '', name: '', application_id: 1, points: 2, requests: 0 },
      { hash: read.hash, points: 2 },
      { hash: read.hash, points: 2 },
      { hash: '', name: '', application_id: 2, points: 1, requests: 0 },
    ]);
    const [first] = await rows();
    expect(first?.durations.map(Number)).toEqual(bucketCounts(13, 2));
  });

  test('keeps what estimates and prices were, not of what is counted together', async () => {
    const compared = {
      requests: 1,
      points: 3,
      estimated_points: 2,
      exceeding_requests: 1,
      excess_points: 1,
    };
    const used = usedOperation(1, { compared });
    await count({ operations: [used] }, { operations: [used] }, { operations: [usedOperation(1)] });
    await count({ operations: [{ ...used, hash: null }] });
    await count({
      operations: [{ ...used, compared: { requests: -1 } }] as unknown as UsageEvent['operations'],
    });
    const sums = { compared_requests: 2, compared_points: 6, estimated_points: 4 };
    expect(await rows()).toMatchObject([
      { hash: used.hash, points: 12, ...sums, exceeding_requests: 2, excess_points: 2 },
      { hash: '', points: 3, compared_requests: 0, estimated_points: 0 },
    ]);
  });

  test.each([
    ['none', undefined],
    ['none that can be read', [{ hash: 'short' }]],
    ['more points than there are', [usedOperation(1, { points: 4 })]],
    ['more requests than there are', [usedOperation(1, { requests: 2 })]],
  ])('of an event that states %s is that of the others', async (_what, operations) => {
    await count({ operations: operations as UsageEvent['operations'] });
    expect(await rows()).toMatchObject([{ hash: '', name: '', points: 3, requests: 1, errors: 0 }]);
  });

  test('keeps the hundred with the most points of an account and day; the others are one row, and nothing is lost', async () => {
    const used = (index: number, points: number) => ({
      points,
      operations: [usedOperation(index, { points, errors: 1 })],
    });
    await count(...Array.from({ length: OPERATIONS_PER_DAY }, (_, index) => used(index, 10 + index)));
    expect(await rows()).toHaveLength(OPERATIONS_PER_DAY);
    await count(used(1_000, 5), used(1_001, 500), used(1_002, 13));
    const kept = await rows();
    const others = kept.find(({ hash }) => hash === '');
    expect(kept).toHaveLength(OPERATIONS_PER_DAY + 1);
    // 5, 10 and 11 of the hundred and three.
    expect(others).toMatchObject({ points: 26, requests: 3, errors: 3 });
    expect(others?.durations.map(Number)).toEqual(bucketCounts(13, 3));
    expect(kept.some(({ hash }) => hash === usedOperation(1_001).hash)).toBe(true);
    const { hourly, operations } = await countedUsage(suite.database);
    expect(operations).toEqual({ points: hourly.points, requests: hourly.requests });
  });

  test('of another day, or another account, displaces nothing', async () => {
    const operations = (index: number) => [usedOperation(index)];
    await count(
      ...Array.from({ length: OPERATIONS_PER_DAY }, (_, index) => ({ operations: operations(index) })),
      { operations: operations(1_000), at_ms: Date.now() - 86_400_000 },
      { operations: operations(1_000), account_id: await insertAccount(suite.database) },
    );
    expect((await rows()).filter(({ hash }) => hash === '')).toEqual([]);
  });
});

test('documents are kept once, and only if there is usage of them', async () => {
  const used = usedOperation(1);
  const documents = [
    { hash: used.hash, text: 'query {\n  a\n}' },
    { hash: usedOperation(2).hash, text: 'query {\n  b\n}' },
  ];
  for (let time = 0; time < 2; time += 1) {
    await sendBatch(suite.store, {
      ...usageBatch([usageEvent({ ...payer, operations: [used] })]),
      documents,
    });
  }
  await allCounted(suite);
  expect(await suite.database('operation_documents').select('hash', 'document')).toEqual([
    { hash: used.hash, document: 'query {\n  a\n}' },
  ]);
});
