import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createAddressHealth } from './ejection.ts';

const rules = { afterFailures: 3, minMs: 100, maxMs: 1_000 };

function healthAt(clock: { nowMs: number }) {
  let ejections = 0;
  const health = createAddressHealth(
    rules,
    () => (ejections += 1),
    () => clock.nowMs,
  );
  return { ...health, ejections: () => ejections };
}

function eject(health: ReturnType<typeof healthAt>): void {
  for (let failure = 0; failure < rules.afterFailures; failure += 1) health.failed(false);
}

test('so many failures in a row eject; an answer between them begins the count again', () => {
  const health = healthAt({ nowMs: 0 });
  health.failed(false);
  health.failed(false);
  health.succeeded();
  health.failed(false);
  health.failed(false);
  expect(health.state()).toBe('healthy');
  health.failed(false);
  expect(health.state()).toBe('ejected');
});

test('when the time is over, one call is the trial, and only that one', () => {
  const clock = { nowMs: 0 };
  const health = healthAt(clock);
  eject(health);
  clock.nowMs = 99;
  expect([health.state(), health.beginCall()]).toEqual(['ejected', false]);
  clock.nowMs = 100;
  expect([health.state(), health.beginCall(), health.beginCall()]).toEqual(['due', true, false]);
  expect(health.state()).toBe('ejected');
  health.succeeded();
  expect(health.state()).toBe('healthy');
});

test('a trial whose caller went away is followed by another', () => {
  const clock = { nowMs: 0 };
  const health = healthAt(clock);
  eject(health);
  clock.nowMs = 100;
  health.beginCall();
  health.trialUndecided();
  expect(health.state()).toBe('due');
});

test('failures of calls from before an ejection do not make it longer', () => {
  const clock = { nowMs: 0 };
  const health = healthAt(clock);
  eject(health);
  clock.nowMs = 90;
  eject(health);
  clock.nowMs = 100;
  expect(health.state()).toBe('due');
  expect(health.ejections()).toBe(1);
});

test('each failed trial doubles the time, up to its bound; being well for that long begins it again', () => {
  const clock = { nowMs: 0 };
  const health = healthAt(clock);
  /** Lets time pass until the trial is due. */
  const lengthMs = () => {
    const from = clock.nowMs;
    while (health.state() !== 'due') clock.nowMs += 1;
    return clock.nowMs - from;
  };
  const failedTrial = () => {
    health.failed(health.beginCall());
    return lengthMs();
  };
  eject(health);
  expect([lengthMs(), failedTrial(), failedTrial(), failedTrial(), failedTrial(), failedTrial()]).toEqual([
    100, 200, 400, 800, 1_000, 1_000,
  ]);
  health.beginCall();
  health.succeeded();
  clock.nowMs += 999;
  eject(health);
  expect(lengthMs()).toBe(1_000);
  health.beginCall();
  health.succeeded();
  clock.nowMs += 1_000;
  eject(health);
  expect(lengthMs()).toBe(100);
});

test('whatever happens, an address is never out for longer than the bound without a trial being due', () => {
  const step = fc.oneof(
    fc.constantFrom('fail' as const, 'succeed' as const, 'begin' as const, 'lose' as const),
    fc.integer({ min: 0, max: 500 }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = { nowMs: 0 };
      const health = healthAt(clock);
      let trial = false;
      for (const one of steps) {
        if (typeof one === 'number') clock.nowMs += one;
        else if (one === 'begin') trial = health.beginCall() || trial;
        else if (one === 'succeed') health.succeeded();
        else if (one === 'lose' && trial) health.trialUndecided();
        else if (one === 'fail') health.failed(trial);
        if (one === 'succeed' || one === 'lose' || one === 'fail') trial = false;
      }
      if (trial) health.trialUndecided();
      clock.nowMs += rules.maxMs;
      expect(health.state()).not.toBe('ejected');
    }),
  );
});
