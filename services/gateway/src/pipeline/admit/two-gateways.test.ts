import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../test/suite/gateway.ts';
import type { Answer } from '../../../test/suite/http-client.ts';
import { countOf, holdAnswers, newCaller } from '../../../test/suite/load/limited-calls.ts';
import { callsIn } from '../../../test/suite/records/recorded-usage.ts';

type Door = Pick<GatewayUnderTest, 'process' | 'query'>;

let gateway: GatewayUnderTest;
let twin: Door;

beforeAll(async () => {
  gateway = await startGateway();
  twin = await gateway.startTwin();
});

beforeEach(() => {
  gateway.upstream(answerOk);
});

afterAll(() => gateway.stop());

function burst(calls: number, token: string): Promise<Answer>[] {
  return Array.from({ length: calls }, (_, index) => (index % 2 === 0 ? gateway : twin).query({ token }));
}

test("a burst over both gateways: the rate admits a minute's worth, not one more, and not one less", async () => {
  const perMinute = 120;
  const { accountId, token } = newCaller(gateway, { rate_limit: perMinute });
  const beganMs = performance.now();
  const answers = await Promise.all(burst(400, token));
  const accrued = Math.floor(((performance.now() - beganMs) / 60_000) * perMinute) + 1;
  const admitted = countOf(answers, 200);
  expect(admitted).toBeGreaterThanOrEqual(perMinute);
  expect(admitted).toBeLessThanOrEqual(perMinute + accrued);
  expect(countOf(answers, 429)).toBe(400 - admitted);
  expect(callsIn(await gateway.usage(admitted, accountId))).toBe(admitted);
});

test('a burst over both gateways: exactly as many calls in flight as the plan has sessions', async () => {
  const { token } = newCaller(gateway, { session_limit: 7 });
  const waiting = holdAnswers(gateway.upstream);
  const answers = burst(200, token);
  const refused: Answer[] = [];
  for (const answer of answers) void answer.then((one) => one.status === 429 && refused.push(one));
  await waitFor(() => refused.length === 193 && waiting.length >= 7);
  expect(waiting).toHaveLength(7);
  for (const end of waiting) end();
  expect(countOf(await Promise.all(answers), 200)).toBe(7);
});

test('callers that wait for their answers never find their own slot taken, on whichever gateway', async () => {
  const { token } = newCaller(gateway, { session_limit: 4 });
  const worker = async () => {
    const statuses = [];
    for (let calls = 0; calls < 25; calls += 1) {
      statuses.push((await (calls % 2 === 0 ? gateway : twin).query({ token })).status);
    }
    return statuses;
  };
  const statuses = (await Promise.all(Array.from({ length: 4 }, worker))).flat();
  expect(new Set(statuses)).toEqual(new Set([200]));
});

test('points over both gateways: used up to the last, and over by no more than what was in flight', async () => {
  const { accountId, token } = newCaller(gateway, { points_limit: 100, session_limit: 5 });
  gateway.upstream((_req, res) => {
    res.writeHead(200, { 'x-points': '3' }).end('{}');
  });
  let left = 300;
  const worker = async () => {
    let admitted = 0;
    while (left > 0) {
      left -= 1;
      if ((await (left % 2 === 0 ? gateway : twin).query({ token })).status === 200) admitted += 1;
    }
    return admitted;
  };
  const admitted = (await Promise.all(Array.from({ length: 5 }, worker))).reduce((sum, one) => sum + one);
  const points = (await gateway.usage(admitted, accountId)).reduce((sum, event) => sum + event.points, 0);
  expect(points).toBe(admitted * 3);
  expect(points).toBeGreaterThanOrEqual(100);
  expect(points).toBeLessThan(100 + 5 * 3);
});

test("a long call keeps its slot for as long as it lasts; a dead gateway's slot is free within 10 s", async () => {
  const { token } = newCaller(gateway, { session_limit: 2 });
  const waiting = holdAnswers(gateway.upstream);
  const doomed = await gateway.startTwin();
  const long = gateway.query({ token });
  const lost = doomed.query({ token }).catch(() => undefined);
  await waitFor(() => waiting.length === 2);
  expect((await twin.query({ token })).status).toBe(429);

  await doomed.process.kill();
  await lost;
  gateway.upstream(answerOk);
  await waitFor(async () => (await twin.query({ token })).status === 200);
  // The long call has outlived a lease and still has its slot: one is free, not two.
  const second = holdAnswers(gateway.upstream);
  const another = twin.query({ token });
  await waitFor(() => second.length === 1);
  expect((await twin.query({ token })).status).toBe(429);
  for (const end of [...waiting, ...second]) end();
  expect((await another).status).toBe(200);
  expect((await long).status).toBe(200);
});
