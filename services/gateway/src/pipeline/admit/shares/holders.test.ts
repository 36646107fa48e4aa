import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import type { RedisConnection } from '@tollgate/redis';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';
import type { Answer } from '../../../../test/suite/http-client.ts';
import { countOf, holdAnswers, newCaller } from '../../../../test/suite/load/limited-calls.ts';
import { metricOf } from '../../../../test/suite/metric.ts';
import { sharesKey } from '../../../ledger/keys.ts';

type Door = Pick<GatewayUnderTest, 'process' | 'query'>;

let gateway: GatewayUnderTest;
let redis: RedisConnection;

beforeAll(async () => {
  gateway = await startGateway();
  redis = openRedis(gateway.redis.url, createLogger('suite', 'silent'));
  await waitFor(() => redis.status === 'ready');
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(async () => {
  redis.disconnect();
  await gateway.stop();
});

const fromShares = ({ process }: Door) =>
  metricOf(process, 'tollgate_admission_decisions_total', { outcome: 'share' });

/** Calls through a gateway until it admits them from a share; returns their number. */
async function untilShared(door: Door, token: string): Promise<number> {
  const before = await fromShares(door);
  const answers: Answer[] = [];
  await waitFor(async () => {
    answers.push(...(await Promise.all(Array.from({ length: 20 }, () => door.query({ token })))));
    return (await fromShares(door)) >= before + 20;
  });
  expect(countOf(answers, 200)).toBe(answers.length);
  return answers.length;
}

async function holders(accountId: number): Promise<number> {
  return Object.keys(await redis.hgetall(sharesKey(accountId))).filter((field) => field.includes('-')).length;
}

test("a burst while another gateway holds a share: the rate admits a minute's worth, not one more or less", async () => {
  const perMinute = 1_200;
  const { token } = newCaller(gateway, { rate_limit: perMinute });
  const twin = await gateway.startTwin();
  const beganMs = performance.now();
  const shared = (await untilShared(gateway, token)) + (await untilShared(twin, token));
  const answers: Answer[] = [];
  while (countOf(answers, 200) === answers.length) {
    const burst = Array.from({ length: 200 }, (_, index) =>
      (index % 2 === 0 ? gateway : twin).query({ token }),
    );
    answers.push(...(await Promise.all(burst)));
  }
  const accrued = Math.floor(((performance.now() - beganMs) / 60_000) * perMinute) + 1;
  const admitted = shared + countOf(answers, 200);
  expect(countOf(answers, 429)).toBe(answers.length - countOf(answers, 200));
  expect(admitted).toBeGreaterThanOrEqual(perMinute);
  expect(admitted).toBeLessThanOrEqual(perMinute + accrued);
});

test('kill -9 of a holder: its slots become free, and no call is admitted above the limit', async () => {
  // Within a payer's connections to the upstream.
  const slots = 120;
  const { accountId, token } = newCaller(gateway, { session_limit: slots });
  const doomed = await gateway.startTwin();
  await untilShared(doomed, token);
  const waiting = holdAnswers(gateway.upstream);
  const lost = Array.from({ length: 20 }, () => doomed.query({ token }).catch(() => undefined));
  await waitFor(() => waiting.length === 20);
  await doomed.process.kill();
  await Promise.all(lost);
  expect(await holders(accountId)).toBe(1);

  let refused = 0;
  let inFlight = 0;
  const answers: Promise<unknown>[] = [];
  await waitFor(async () => {
    const missing = slots - inFlight;
    const asked = Array.from({ length: missing }, () => gateway.query({ token }));
    for (const answer of asked) {
      inFlight += 1;
      answers.push(
        answer.then(({ status }) => {
          if (status !== 429) return;
          refused += 1;
          inFlight -= 1;
        }),
      );
    }
    await waitFor(() => waiting.length - 20 === inFlight);
    return inFlight === slots;
  });
  expect(refused).toBeGreaterThan(0);
  expect((await gateway.query({ token })).status).toBe(429);
  for (const end of waiting) end();
  await Promise.all(answers);
});

test('a gateway that stops returns its shares', async () => {
  const { accountId, token } = newCaller(gateway, { session_limit: 300, rate_limit: 100_000 });
  const leaving = await gateway.startTwin();
  await untilShared(leaving, token);
  expect(await holders(accountId)).toBe(1);
  await leaving.process.stop();
  expect(await holders(accountId)).toBe(0);
});
