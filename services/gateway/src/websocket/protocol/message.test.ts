import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { parseCallerMessage, parseUpstreamMessage, withId } from './message.ts';

const numberText = fc
  .tuple(
    fc.constantFrom('', '-'),
    fc.oneof(fc.constant('0'), fc.stringMatching(/^[1-9]\d{0,30}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^\.\d{1,30}$/)),
    fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?\d{1,3}$/)),
  )
  .map((parts) => parts.join(''));

test('numbers go on with the digits that came, wherever they are', () => {
  fc.assert(
    fc.property(fc.array(numberText), fc.string(), (numbers, key) => {
      const list = `[${numbers.join(',')}]`;
      const payload = `{${JSON.stringify(key)}:${list},"nested":[{"x":${list}}]}`;
      const message = parseCallerMessage(`{"type":"t","payload":${payload}}`);
      // JSON.parse keeps the last of two members with one name.
      const expected = key === 'nested' ? `{"nested":[{"x":${list}}]}` : payload;
      expect(JSON.stringify(message?.payload)).toBe(expected);
    }),
  );
});

test('of a long message, the payload’s text is kept with its digits', () => {
  const payload = `{"variables":{"n":1.0,"x":"${'x'.repeat(20_000)}"}}`;
  const text = `{"payload":{}, "type":"t","payload":${payload}}`;
  expect(parseCallerMessage(text)).toEqual({
    type: 't',
    payload: JSON.parse(payload) as unknown,
    payloadText: payload,
  });
  expect(parseCallerMessage(`{"type":"t","n":[${'1.0,'.repeat(10_000)}0]}`)).toEqual({ type: 't' });
});

test('another id is all that changes in a message of the upstream', () => {
  const message =
    '{"type":"next", "id":"a","payload":{"id":"a","n":[1.0,12345678901234567890]},"x":{"y":-0}}';
  expect(withId(Buffer.from(message), 'b"').toString()).toBe(
    '{"type":"next","id":"b\\"","payload":{"id":"a","n":[1.0,12345678901234567890]},"x":{"y":-0}}',
  );
});

test('any other JSON goes on as the same value', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.string({ minLength: 1, maxLength: 256 }), (payload, id) => {
      const text = JSON.stringify({ type: 'subscribe', id, payload });
      expect(JSON.parse(JSON.stringify(parseCallerMessage(text)))).toEqual(JSON.parse(text));
    }),
  );
});

test('whatever text comes, it is a message or null, and reading it never throws', () => {
  const type = fc.oneof(fc.string(), fc.jsonValue());
  const nearly = fc.record({ type, id: fc.jsonValue(), payload: fc.jsonValue() }, { requiredKeys: [] });
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), nearly.map(JSON.stringify)), (text) => {
      for (const message of [parseCallerMessage(text), parseUpstreamMessage(text)]) {
        if (message === null) continue;
        expect(typeof message.type).toBe('string');
        expect(['string', 'undefined']).toContain(typeof message.id);
        expect(() => JSON.stringify(message)).not.toThrow();
      }
    }),
  );
});

test('a number is no object, however it is written', () => {
  expect(parseCallerMessage('1.0')).toBeNull();
  expect(parseCallerMessage('{"type":1.0}')).toBeNull();
  expect(parseCallerMessage('{"type":"t","id":1.0}')).toBeNull();
});

test('of a caller an id has at most 256 characters, of the upstream any number', () => {
  const ofLength = (length: number) => JSON.stringify({ type: 't', id: 'x'.repeat(length) });
  expect(parseCallerMessage(ofLength(256))).not.toBeNull();
  expect(parseCallerMessage(ofLength(257))).toBeNull();
  expect(parseUpstreamMessage(ofLength(257))).not.toBeNull();
});
