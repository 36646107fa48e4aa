import { crc32 } from 'node:zlib';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { keepRepeated } from './repeated-bodies.ts';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

/** A body whose result depends on more than itself. */
const OF_MORE = '{"documentId":"abc"}';

function counted() {
  const reads: string[] = [];
  const read = keepRepeated(
    (body) => {
      reads.push(body.toString());
      return { of: body.toString() };
    },
    ({ of }) => of !== OF_MORE,
  );
  return { reads, read: (text: string) => read(Buffer.from(text)) };
}

/** Two bodies with one checksum. */
function twins(): [string, string] {
  const byChecksum = new Map<number, string>();
  for (let number = 0; ; number += 1) {
    const text = `{"query":"{ q${(number * 2_654_435_761).toString(36)} }"}`;
    const checksum = crc32(text);
    const other = byChecksum.get(checksum);
    if (other !== undefined) return [other, text];
    byChecksum.set(checksum, text);
  }
}

test('a body is kept from its first repetition on', () => {
  const { read, reads } = counted();
  const [, second, third] = [read('{}'), read('{}'), read('{}')];
  expect(reads).toEqual(['{}', '{}']);
  expect(third).toBe(second);
});

test('bodies with one checksum are told apart', () => {
  const [one, other] = twins();
  const { read } = counted();
  for (const text of [one, one, other, other, one, other, one]) expect(read(text)).toEqual({ of: text });
});

test('what is kept is the same as what is read, whatever order bodies come in', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('{}', '[]', ' {}', '{} ', 'x'.repeat(5_000))), (texts) => {
      const { read } = counted();
      for (const text of texts) expect(read(text)).toEqual({ of: text });
    }),
  );
});

test('what the reader refuses is refused each time', () => {
  const read = keepRepeated(
    (body) => {
      throw new Error(body.toString());
    },
    () => true,
  );
  for (let time = 0; time < 3; time += 1) expect(() => read(Buffer.from('no'))).toThrow('no');
});

test('a long body is never kept', () => {
  const { read, reads } = counted();
  for (let time = 0; time < 3; time += 1) read('x'.repeat(4_097));
  expect(reads).toHaveLength(3);
});

test('bodies, which may hold secrets, are forgotten after seconds', () => {
  const { read, reads } = counted();
  read('{}');
  read('{}');
  jest.advanceTimersByTime(9_999);
  read('{}');
  expect(reads).toHaveLength(2);
  jest.advanceTimersByTime(1);
  read('{}');
  expect(reads).toHaveLength(3);
});

test('the bytes that a body was received with are not kept', () => {
  const received = Buffer.from('{}{}');
  const body = received.subarray(0, 2);
  const read = keepRepeated(
    (bytes) => bytes.toString(),
    () => true,
  );
  read(body);
  read(body);
  received.write('[]');
  expect(read(Buffer.from('{}'))).toBe('{}');
  expect(read(body)).toBe('[]');
});

test('what depends on more than the body is not kept', () => {
  const { reads, read } = counted();
  for (let times = 0; times < 4; times += 1) read(OF_MORE);
  expect(reads).toHaveLength(4);
});
