import { expect, test } from '@jest/globals';
import type { RefusalCountBatch } from '@tollgate/contracts/refused-call';
import { waitFor } from '@tollgate/stack/wait-for';
import { createRefusalCounts } from './refusal-counts.ts';
import type { SendCounts } from './refusal-counts.ts';

const gatewayId = '6f2a58b1-6a3f-4c53-9d0e-3f5d3f0a9b11';
const NOON_MS = Date.parse('2026-07-01T12:00:00Z');

const refusal = {
  code: 'rate_limit_exceeded',
  account_id: 7,
  payer_id: 7,
  application_id: 70,
  client_id: null,
};

/** Counts into what is sent; `outcomes` are those of the first batches. */
function counting(outcomes: Awaited<ReturnType<SendCounts>>[] = []) {
  const attempts: RefusalCountBatch[] = [];
  const warnings: unknown[] = [];
  const send: SendCounts = (batch) => {
    attempts.push(structuredClone(batch));
    return Promise.resolve(outcomes.shift() ?? 'sent');
  };
  const logger = { warn: (facts: unknown) => warnings.push(facts) };
  const counts = createRefusalCounts({ gatewayId, send, logger: logger as never });
  return { counts, attempts, warnings };
}

test('any number of refusals is one number per account, application, code and hour', async () => {
  const { counts, attempts } = counting();
  for (let call = 0; call < 10_000; call += 1) counts.count(refusal, NOON_MS + call);
  counts.count({ ...refusal, code: 'upstream_timeout' }, NOON_MS);
  counts.count(refusal, NOON_MS + 3_600_000);
  await counts.close();
  expect(attempts).toEqual([
    {
      gateway_id: gatewayId,
      seq: 1,
      counts: [
        { ...refusal, hour_ms: NOON_MS, last_at_ms: NOON_MS + 9_999, calls: 10_000 },
        { ...refusal, code: 'upstream_timeout', hour_ms: NOON_MS, last_at_ms: NOON_MS, calls: 1 },
        { ...refusal, hour_ms: NOON_MS + 3_600_000, last_at_ms: NOON_MS + 3_600_000, calls: 1 },
      ],
    },
  ]);
});

test('a batch without an acknowledgement is sent again under its number; what came meanwhile is the next', async () => {
  const { counts, attempts } = counting(['failed', 'full']);
  counts.count(refusal, NOON_MS);
  await waitFor(() => attempts.length === 1);
  counts.count(refusal, NOON_MS + 5);
  await waitFor(() => attempts.length === 4);
  expect(attempts.map(({ seq }) => seq)).toEqual([1, 1, 1, 2]);
  expect(attempts[2]).toEqual(attempts[0]);
  await counts.close();
});

test('what waits is bounded, and tokens that may be made up take nothing from known accounts', async () => {
  const { counts, attempts } = counting();
  const clients = Array.from({ length: 600 }, () => crypto.randomUUID());
  const unidentified = { ...refusal, account_id: null, payer_id: null, application_id: null };
  const counted = clients.filter((client_id) => counts.count({ ...unidentified, client_id }, NOON_MS));
  expect(counted).toHaveLength(500);
  expect(counts.count(refusal, NOON_MS)).toBe(true);
  await counts.close();
  expect(attempts.every((batch) => batch.counts.length <= 200)).toBe(true);
  expect(attempts.flatMap((batch) => batch.counts)).toHaveLength(501);
});

test('at a shutdown without Redis, what is lost is logged', async () => {
  const { counts, warnings } = counting(['failed']);
  counts.count(refusal, NOON_MS);
  counts.count(refusal, NOON_MS);
  await counts.close();
  expect(warnings).toEqual([{ count: 2 }]);
});
