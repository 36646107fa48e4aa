import { afterEach, expect, jest, test } from '@jest/globals';
import { pause, startLoop, startRounds } from './background-loop.ts';

const HOUR_MS = 3_600_000;

afterEach(() => {
  jest.restoreAllMocks();
});

/** A loop whose runs wait until `finish` is called. */
function start(restMs: number) {
  const runs: (() => void)[] = [];
  const begun: PromiseWithResolvers<undefined>[] = [0, 1, 2].map(() => Promise.withResolvers());
  const loop = startLoop(async () => {
    const run = Promise.withResolvers<undefined>();
    begun[runs.length]?.resolve(undefined);
    runs.push(() => {
      run.resolve(undefined);
    });
    await run.promise;
    return restMs;
  });
  return { loop, finish: () => runs.at(-1)?.(), begun: (run: number) => begun[run]?.promise, runs };
}

test('a loop runs at once, and again when it is woken, also during a run', async () => {
  const { loop, finish, begun, runs } = start(HOUR_MS);
  expect(runs).toHaveLength(1);
  loop.wake();
  finish();
  await begun(1);
  finish();
  loop.wake();
  await begun(2);
  finish();
  await loop.close();
  expect(runs).toHaveLength(3);
});

test('a loop that rests first runs when it is woken, or never', async () => {
  let runs = 0;
  const run = () => {
    runs += 1;
    return Promise.resolve(HOUR_MS);
  };
  const [woken, resting] = [0, 1].map(() => startLoop(run, { firstRestMs: HOUR_MS }));
  await new Promise(setImmediate);
  expect(runs).toBe(0);
  woken?.wake();
  await new Promise(setImmediate);
  expect(runs).toBe(1);
  await Promise.all([woken?.close(), resting?.close()]);
  expect(runs).toBe(1);
});

test('rounds begin after a random part of their interval', async () => {
  const random = jest.spyOn(Math, 'random').mockReturnValue(0);
  let rounds = 0;
  const run = () => {
    rounds += 1;
    return Promise.resolve();
  };
  const first = startRounds(HOUR_MS, run);
  expect(rounds).toBe(1);
  random.mockReturnValue(0.5);
  const later = startRounds(HOUR_MS, run);
  await new Promise(setImmediate);
  expect(rounds).toBe(1);
  await Promise.all([first.close(), later.close()]);
});

test('a run that returns no rest is followed by the next', async () => {
  const { loop, finish, begun } = start(0);
  finish();
  await begun(1);
  finish();
  await begun(2);
  const closed = loop.close();
  finish();
  await closed;
});

test('closing ends a rest, and waits for a run', async () => {
  const { loop, finish } = start(HOUR_MS);
  let isClosed = false;
  const closed = loop.close().then(() => {
    isClosed = true;
  });
  await new Promise(setImmediate);
  expect(isClosed).toBe(false);
  expect(loop.signal.aborted).toBe(true);
  finish();
  await closed;

  const resting = startLoop(() => Promise.resolve(HOUR_MS));
  await new Promise(setImmediate);
  await resting.close();
});

test('a pause ends with its signal', async () => {
  await pause(HOUR_MS, AbortSignal.abort());
});
