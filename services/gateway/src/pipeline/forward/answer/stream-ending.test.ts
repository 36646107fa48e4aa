import { expect, test } from '@jest/globals';
import { Problem } from '@tollgate/http/problem';
import { createStreamEnding } from './stream-ending.ts';

const EVENTS = { 'content-type': 'text/event-stream; charset=utf-8' };
const PARTS = { 'content-type': 'multipart/mixed; boundary=-; subscriptionSpec="1.0"' };
const WHY = new Problem('unauthorized');

function lastPart(headers: Record<string, string>, chunks: readonly string[]): string | undefined {
  const ending = createStreamEnding(headers);
  for (const chunk of chunks) ending?.saw(Buffer.from(chunk));
  return ending?.lastPart(WHY, 'id');
}

test.each([
  [[]],
  [['data: 1\n\n']],
  [['data: 1\r\n\r\n']],
  [['data: 1\r\r']],
  [['data: 1\n', '\n']],
  [['data: 1\r', '\n\r', '\n']],
  [['x'.repeat(1_000), '\n\n']],
  [[':\n\n']],
])('after %j there is room for an event', (chunks) => {
  expect(lastPart(EVENTS, chunks)).toMatch(
    /^event: next\ndata: {"errors":.*}\n\nevent: complete\ndata:\n\n$/,
  );
});

test.each([[['data: 1']], [['data: 1\n']], [['data: 1\r\n']], [['\n\n', 'data: 1\n']]])(
  'after %j there is none',
  (chunks) => {
    expect(lastPart(EVENTS, chunks)).toBeUndefined();
  },
);

test.each([
  [[], /^---\r\ncontent-type/],
  [['---'], /^\r\ncontent-type/],
  [['---\r\n'], /^content-type/],
  [['---\r\n\r\n{}\r\n-', '--'], /^\r\ncontent-type/],
  [['---\r\n\r\n{}', '\r\n---\r', '\n'], /^content-type/],
])('after the parts %j there is room for one', (chunks, begin) => {
  const part = lastPart(PARTS, chunks);
  expect(part).toMatch(begin);
  expect(part).toMatch(/\r\n\r\n{"payload":null,"errors":\[.*\]}\r\n-----\r\n$/);
});

test.each([[['---\r\n\r\n{"da']], [['---\r\n\r\n{}']], [['---\r\n\r\n{"a":"---']]])(
  'after the parts %j there is none',
  (chunks) => {
    expect(lastPart(PARTS, chunks)).toBeUndefined();
  },
);

test.each(['', 'none', 'identity', 'Identity , none'])('the content coding "%s" is none', (coding) => {
  expect(lastPart({ ...EVENTS, 'content-encoding': coding }, [])).toMatch(/^event: next\n/);
});

test.each(['gzip', 'identity, br', 'x-unknown'])('a stream in the coding %s just ends', (coding) => {
  expect(lastPart({ ...EVENTS, 'content-encoding': coding }, ['\x1f\x8b'])).toBe('');
});

test.each([
  [{ 'content-type': 'multipart/mixed; boundary=-' }],
  [{ 'content-type': 'application/json' }],
  [{}],
])('%j has no ending of ours', (headers) => {
  expect(lastPart(headers, [])).toBeUndefined();
});
