import { expect, test } from '@jest/globals';
import type { HttpRequest } from './http-message.ts';
import { keepEach, keepFew, keepLast, keepLastRead, keepPerHead } from './repeated-heads.ts';

const request = (rawHeaders: string[], repeatsHead: boolean) =>
  ({ rawHeaders, repeatsHead, wholeBody: null }) as unknown as HttpRequest;

test('what is made of a head is kept from its first repetition on, and only for that head', () => {
  let made = 0;
  const count = keepPerHead(() => (made += 1));
  const [one, other] = [
    ['a', '1'],
    ['a', '1'],
  ];
  expect([count(request(one, false)), count(request(one, true)), count(request(one, true))]).toEqual([
    1, 2, 2,
  ]);
  expect([count(request(other, true)), count(request(other, true))]).toEqual([3, 3]);
  expect(count({ rawHeaders: one } as HttpRequest)).toBe(4);
});

test('what is thrown is not kept', () => {
  let calls = 0;
  const check = keepPerHead(() => {
    calls += 1;
    throw new Error('refused');
  });
  const repeated = request([], true);
  expect(() => check(repeated)).toThrow('refused');
  expect(() => check(repeated)).toThrow('refused');
  expect(calls).toBe(2);
});

test('a head is read once as long as it comes byte for byte, and its body isn’t kept', () => {
  const read = keepLastRead((bytes) => {
    const bodyStart = bytes.indexOf('.') + 1;
    return bodyStart === 0 ? 'incomplete' : { text: bytes.toString('latin1', 0, bodyStart), bodyStart };
  });
  const first = read(Buffer.from('head.one'));
  expect(first).toEqual({ text: 'head.', bodyStart: 5 });
  expect(read(Buffer.from('head.two'))).toBe(first);
  expect(read(Buffer.from('hea'))).toBe('incomplete');
  expect(read(Buffer.from('heaD.two'))).toEqual({ text: 'heaD.', bodyStart: 5 });
  expect(read(Buffer.from('head.'))).not.toBe(first);
});

test('the last key’s, each key’s and a few keys’', () => {
  let made = 0;
  const last = keepLast((_key: object) => (made += 1));
  const [a, b] = [{}, {}];
  expect([a, a, b, a].map(last)).toEqual([1, 1, 2, 3]);
  const each = keepEach((_key: object) => (made += 1));
  expect([a, b, a, b].map(each)).toEqual([4, 5, 4, 5]);
  const few = keepFew(2, (_key: string) => (made += 1));
  expect(['a', 'b', 'a', 'c', 'a', 'c'].map(few)).toEqual([6, 7, 6, 8, 9, 8]);
});
