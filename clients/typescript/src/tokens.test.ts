import { beforeEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { createTokens } from './tokens.ts';
import type { FreshToken } from './tokens.ts';

let now: number;
let asked: number;
const nowMs = () => now;
/** Each try in turn: a life in seconds, or an error. */
let tries: (number | Error)[];

beforeEach(() => {
  now = 1_000_000;
  asked = 0;
});

function obtain(): Promise<FreshToken> {
  asked += 1;
  const next = tries[Math.min(asked, tries.length) - 1];
  if (typeof next !== 'number') return Promise.reject(next ?? new Error('no try left'));
  return Promise.resolve({ accessToken: `t${String(asked)}`, expiresInSec: next });
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a token of an hour is renewed within its last minute and a half, and no caller waits for it', async () => {
  tries = [3_600];
  const tokens = createTokens(obtain, nowMs);
  expect(await tokens.get()).toBe('t1');
  now += 3_600_000 - 91_000;
  expect(await tokens.get()).toBe('t1');
  await settled();
  expect(asked).toBe(1);
  now += 32_000;
  expect(await tokens.get()).toBe('t1');
  await settled();
  expect(asked).toBe(2);
  expect(await tokens.get()).toBe('t2');
});

test('renewal lies between 85 % of the life and its end, however short the life is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 10_000_000 }), async (lifeSec) => {
      now = 0;
      asked = 0;
      tries = [lifeSec];
      const tokens = createTokens(obtain, nowMs);
      await tokens.get();
      now = lifeSec * 850 - 1;
      await tokens.get();
      expect(asked).toBe(1);
      now = lifeSec * 1_000 - 1;
      await tokens.get();
      expect(asked).toBe(2);
    }),
  );
});

test('while the token lives, a failed renewal is silent and is tried again later', async () => {
  tries = [100, new Error('away'), 100];
  const tokens = createTokens(obtain, nowMs);
  await tokens.get();
  now += 96_000;
  for (let call = 0; call < 3; call += 1) {
    expect(await tokens.get()).toBe('t1');
    await settled();
  }
  expect(asked).toBe(2);
  now += 2_001;
  await tokens.get();
  await settled();
  expect(await tokens.get()).toBe('t3');
});

test('the end of a token counts from before its request', async () => {
  tries = [10, 10];
  const tokens = createTokens(async () => {
    now += 4_000;
    return await obtain();
  }, nowMs);
  expect(await tokens.get()).toBe('t1');
  now += 6_001;
  expect(await tokens.get()).toBe('t2');
});

describe('a refused token', () => {
  test('is replaced once, however many refuse it', async () => {
    tries = [3_600];
    const tokens = createTokens(obtain, nowMs);
    const first = await tokens.get();
    tokens.refuse(first);
    expect(await tokens.get()).toBe('t2');
    tokens.refuse(first);
    expect(await tokens.get()).toBe('t2');
    expect(asked).toBe(2);
  });
});

test.each([0, -5])('a token of %d seconds is used by those that waited for it', async (life) => {
  tries = [life];
  const tokens = createTokens(obtain, nowMs);
  expect(await Promise.all([tokens.get(), tokens.get()])).toEqual(['t1', 't1']);
  expect(await tokens.get()).toBe('t2');
});
