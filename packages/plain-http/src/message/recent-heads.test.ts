import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createRecentHeads } from './recent-heads.ts';

const GENERATION_MS = 10_000;
const MAX_ENTRIES = 4_096;
const MAX_BYTES = 4 * 1_024 * 1_024;

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

test('a head is kept whole: one that differs in a byte is another one', () => {
  const heads = createRecentHeads<string>();
  const text = 'POST / HTTP/1.1\r\nAuthorization: Bearer a\xe4b';
  heads.keep(text, 'known', []);
  expect(heads.find(text)).toBe('known');
  for (let at = 0; at < text.length; at += 1) {
    const other = `${text.slice(0, at)}~${text.slice(at + 1)}`;
    expect(heads.find(other)).toBeUndefined();
    expect(heads.find(text.slice(0, at))).toBeUndefined();
  }
});

describe('a head may be kept', () => {
  test('when it comes a second time', () => {
    const heads = createRecentHeads<string>();
    const [one, other] = [Buffer.from('one'), Buffer.from('other')];
    expect([one, other, one, other].map(heads.cameBefore)).toEqual([false, false, true, true]);
  });

  test('not if it is long', () => {
    const heads = createRecentHeads<string>();
    const long = Buffer.alloc(4_097);
    expect([long, long].map(heads.cameBefore)).toEqual([false, false]);
  });

  test('heads that are made to have one checksum are told apart', () => {
    // CRC-32 is linear: a pattern that it divides changes no checksum, wherever it is put.
    const one = Buffer.from('POST / HTTP/1.1\r\nX-Any: ..........');
    const other = Buffer.from(one);
    const pattern = [0x41, 0x06, 0x71, 0xdb, 0x01];
    for (const [index, byte] of pattern.entries()) other[24 + index] = (other[24 + index] ?? 0) ^ byte;
    expect(one.equals(other)).toBe(false);
    expect(crc32(one)).toBe(crc32(other));
    const heads = createRecentHeads<string>();
    expect([one, other].map(heads.cameBefore)).toEqual([false, true]);
    for (const head of [one, other]) heads.keep(head.toString('latin1'), head.toString('hex'), []);
    for (const head of [one, other]) expect(heads.find(head.toString('latin1'))).toBe(head.toString('hex'));
  });
});

describe('a head is forgotten', () => {
  test('by its text, by each of its marks, and with all', () => {
    const heads = createRecentHeads<number>();
    const found = () => ['a', 'b', 'c', 'd'].map((text) => heads.find(text));
    const keepAll = () => {
      for (const [index, text] of ['a', 'b', 'c', 'd'].entries()) {
        heads.keep(text, index, [`token-${text}`, index < 2 ? 'client-1' : 'client-2']);
      }
    };
    keepAll();
    heads.forget('a');
    expect(found()).toEqual([undefined, 1, 2, 3]);
    heads.forgetMarked('token-c');
    expect(found()).toEqual([undefined, 1, undefined, 3]);
    // Also in the older generation.
    jest.advanceTimersByTime(GENERATION_MS);
    heads.forgetMarked('client-1');
    expect(found()).toEqual([undefined, undefined, undefined, 3]);
    keepAll();
    jest.advanceTimersByTime(GENERATION_MS);
    keepAll();
    heads.clear();
    expect(found()).toEqual([undefined, undefined, undefined, undefined]);
  });

  test('when it isn’t used for two generations, and no timer is left', () => {
    const heads = createRecentHeads<number>();
    heads.keep('used', 1, []);
    heads.keep('unused', 2, []);
    for (let generation = 0; generation < 3; generation += 1) {
      jest.advanceTimersByTime(GENERATION_MS);
      expect(heads.find('used')).toBe(1);
    }
    expect(heads.find('unused')).toBeUndefined();
    jest.advanceTimersByTime(2 * GENERATION_MS);
    expect(heads.find('used')).toBeUndefined();
    expect(jest.getTimerCount()).toBe(0);
  });
});

describe('what is kept is bounded, whatever comes', () => {
  const kept = (heads: { find: (text: string) => number | undefined }, texts: readonly string[]) =>
    texts.filter((text) => heads.find(text) !== undefined).length;

  test.each([
    ['many heads', 3 * MAX_ENTRIES, 20],
    ['long heads', 3_000, 4_000],
  ])('%s', (_what, count, bytes) => {
    const heads = createRecentHeads<number>();
    const texts = Array.from({ length: count }, (_, index) => String(index).padEnd(bytes, '.'));
    for (const [index, text] of texts.entries()) heads.keep(text, index, []);
    // Backwards, since what is found in the older generation moves to the younger one.
    const found = kept(heads, texts.toReversed());
    expect(found).toBeLessThanOrEqual(MAX_ENTRIES);
    expect(found * bytes).toBeLessThanOrEqual(MAX_BYTES);
    expect(found).toBeGreaterThan(Math.min(MAX_ENTRIES, MAX_BYTES / bytes) / 3);
  });

  test('a head in use stays while others come in thousands', () => {
    const heads = createRecentHeads<number>();
    heads.keep('used', 1, []);
    for (let index = 0; index < 10 * MAX_ENTRIES; index += 1) {
      heads.keep(`other ${String(index)}`, index, []);
      if (index % 1_000 === 0) expect(heads.find('used')).toBe(1);
    }
  });
});
