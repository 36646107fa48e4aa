import { expect } from '@jest/globals';
import { eventually, readUsage } from '../../caller.ts';
import { startCalls } from '../../load/calls.ts';
import type { CallTally } from '../../load/calls.ts';
import { newCustomer } from '../../load/customer.ts';
import { startSockets } from '../../load/sockets.ts';
import type { SocketTally } from '../../load/sockets.ts';
import type { Stack } from '../../stack/stack.ts';

const COUNTING_TIME_LIMIT_MS = 60_000;
const RECONNECT_TIME_LIMIT_MS = 60_000;

export type Load = {
  callers: number;
  pauseMs: number;
  sockets: number;
  /**
   * Results of a socket that aren't in the usage if its gateway is killed (docs/design/sockets.md); none by default.
   */
  unsettled?: number;
};

/** What the callers saw while something was done to the stack. */
export type Seen = { calls: CallTally; sockets: SocketTally };

/**
 * Does something to a stack that customers use, one by calls and one by subscriptions. Afterwards every call that was
 * answered is in the usage exactly once, one that was refused or lost at most once (its answer may be what failed,
 * docs/design/settlement.md); all sockets deliver again, and each of their results is in the usage once, if need be
 * with one that was on its way when its socket ended.
 */
export async function underLoad(stack: Stack, load: Load, act: () => Promise<void>): Promise<Seen> {
  const { demo } = stack;
  const caller = await newCustomer(demo, 'calls');
  const listener = await newCustomer(demo, 'sockets');
  const url = `${demo.streaming_url}/graphql`;
  const calls = startCalls(url, caller.token, load);
  const sockets = startSockets(url.replace('http', 'ws'), listener.token, load.sockets);
  const allDeliver = () =>
    eventually(
      () => Promise.resolve(sockets.tally().delivering),
      (delivering) => delivering === load.sockets,
      RECONNECT_TIME_LIMIT_MS,
    );
  let seen: Seen;
  try {
    await allDeliver();
    await act();
    await allDeliver();
  } finally {
    seen = { calls: await calls.stop(), sockets: sockets.stop() };
  }
  try {
    await expectCallsCounted(stack, caller.token, seen.calls);
    await expectResultsCounted(stack, listener.token, seen.sockets, load);
  } catch (error) {
    console.info(`seen by callers: ${JSON.stringify(seen)}`);
    throw error;
  }
  return seen;
}

async function expectCallsCounted({ demo }: Stack, token: string, calls: CallTally): Promise<void> {
  const failed = sum(calls.lost) + sum(calls.refused);
  const { usage } = (
    await eventually(
      () => readUsage(demo, token),
      ({ billing_period }) => billing_period.usage.requests_usage >= calls.answered,
      COUNTING_TIME_LIMIT_MS,
    )
  ).billing_period;
  expect(usage.requests_usage).toBeLessThanOrEqual(calls.answered + failed);
  if (failed === 0) expect(usage.points_usage).toBe(calls.points);
}

async function expectResultsCounted(
  { demo }: Stack,
  token: string,
  { points, results, closes }: SocketTally,
  load: Load,
): Promise<void> {
  const price = points / results;
  const broken = closes['1006'] ?? 0;
  const atLeast = points - price * broken * (load.unsettled ?? 0);
  const { usage } = (
    await eventually(
      () => readUsage(demo, token),
      ({ billing_period }) => billing_period.usage.points_usage >= atLeast,
      COUNTING_TIME_LIMIT_MS,
    )
  ).billing_period;
  const ended = load.sockets + sum(closes);
  expect(usage.points_usage).toBeLessThanOrEqual(points + price * ended);
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}
