import { expect, test } from '@jest/globals';
import { createTextCache } from './text-cache.ts';

const ROOM = 65_536;

/** Tells which texts were made. */
function watched(room = ROOM) {
  const cache = createTextCache<{ text: string }>(room);
  const made: string[] = [];
  const ask = (text: string) =>
    cache.of(text, () => {
      made.push(text);
      return { text };
    });
  return { ask, made, clear: cache.clear };
}

test('what was made of a text is kept until all is forgotten', () => {
  const { ask, made, clear } = watched();
  const first = ask('{ a }');
  expect(ask('{ a }')).toBe(first);
  expect(ask('{ a }')).toBe(first);
  clear();
  expect(ask('{ a }')).not.toBe(first);
  expect(made).toEqual(['{ a }', '{ a }']);
});

test('a caller with ever new texts displaces none that came again', () => {
  const { ask, made } = watched();
  const repeated = Array.from({ length: 10 }, (_, index) => `{ repeated${String(index)} }`);
  for (const text of [...repeated, ...repeated]) ask(text);
  for (let index = 0; index < 10_000; index += 1) ask(`{ once${String(index)} }`);
  made.length = 0;
  for (const text of repeated) ask(text);
  expect(made).toEqual([]);
});

test('texts that came again displace each other within the room', () => {
  const { ask, made } = watched();
  const texts = Array.from({ length: 1_000 }, (_, index) => `{ text${String(index)} }`);
  for (const text of texts) for (let times = 0; times < 2; times += 1) ask(text);
  made.length = 0;
  for (const text of texts.toReversed()) ask(text);
  // Each counts for more than 1,024 characters.
  expect(made.length).toBeGreaterThan(texts.length - ROOM / 1_024);
});

test('long texts of one length are told apart', () => {
  const { ask, made } = watched(8 * ROOM);
  const longOf = (end: string) => `{ a } #${'x'.repeat(16_384 - 7)}${end}`;
  expect([ask(longOf('1')).text.at(-1), ask(longOf('2')).text.at(-1), ask(longOf('1')).text.at(-1)]).toEqual([
    '1',
    '2',
    '1',
  ]);
  expect(made.length).toBe(2);
});

test('what cannot be made is asked for again', () => {
  const cache = createTextCache(ROOM);
  expect(() =>
    cache.of('{', () => {
      throw new Error('no');
    }),
  ).toThrow('no');
  expect(cache.of('{', () => ({ made: true }))).toEqual({ made: true });
});
