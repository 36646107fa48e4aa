import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';

let gateway: GatewayUnderTest;
let nextAccount = 5_000;

beforeAll(async () => {
  gateway = await startGateway({ env: { DEFAULT_POINTS: '2' } });
});

afterAll(() => gateway.stop());

/** What an answer with these prices costs: as the caller is told, and as it is counted. */
async function costOf(...prices: string[]) {
  const accountId = (nextAccount += 1);
  gateway.upstream((_req, res) => {
    res
      .writeHead(
        200,
        prices.flatMap((price) => ['X-Points', price]),
      )
      .end('{}');
  });
  const answer = await gateway.query({ token: gateway.auth.issue({ accountId }) });
  const [usage] = await gateway.usage(1, accountId);
  return [answer.headers['x-points-cost'], usage?.points];
}

const unpriced = (reason: string) => gateway.metric('tollgate_unpriced_answers_total', { reason });

/** The lines about prices, by their fault. */
function lines(fault: string): unknown[] {
  return gateway.process
    .logs()
    .split('\n')
    .filter((line) => line.includes('states no price'))
    .map((line) => JSON.parse(line) as { fault: string })
    .filter((line) => line.fault === fault);
}

test('an upstream that never states prices is no fault: the default, and a metric', async () => {
  gateway.upstream(answerOk);
  expect((await gateway.query()).headers['x-points-cost']).toBe('2');
  expect(await unpriced('missing')).toBe(1);
  expect(lines('missing')).toEqual([]);
});

test.each(['7 ', '7\t', '7 \t '])('X-Points: %j costs 7', async (price) => {
  expect(await costOf(price)).toEqual(['7', 7]);
});

test.each([
  ['repeated', ['7', '8']],
  ['unreadable', ['seven']],
  ['missing', []],
])(
  'a price that is %s costs the default, and is counted and logged with the upstream',
  async (reason, prices) => {
    const before = await unpriced(reason);
    expect(await costOf(...prices)).toEqual(['2', 2]);
    expect(await costOf(...prices)).toEqual(['2', 2]);
    expect(await unpriced(reason)).toBe(before + 2);
    await waitFor(() => lines(reason).length > 0);
    // One line a minute.
    expect(lines(reason)).toMatchObject([
      { level: 'warn', upstream: expect.stringMatching(/^http:/), suppressed: 0 },
    ]);
  },
);
