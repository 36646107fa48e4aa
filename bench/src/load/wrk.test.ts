import { expect, test } from '@jest/globals';
import { readDone, scriptEnvironment } from './wrk.ts';

test('a form by POST, with the headers that it is given', () => {
  expect(scriptEnvironment({ headers: { authorization: 'Basic YTpi' }, body: 'token=t' })).toEqual({
    METHOD: 'POST',
    HEADERS: 'content-type: application/x-www-form-urlencoded\nauthorization: Basic YTpi\n',
    BODY: 'token=t',
    TOKENS: '',
    VARIANTS: '1',
  });
});

test('a GET has no content type, and a type that is given stands', () => {
  expect(scriptEnvironment({ method: 'GET', headers: {}, body: '' })).toMatchObject({
    METHOD: 'GET',
    HEADERS: '',
  });
  const json = scriptEnvironment({
    headers: { 'content-type': 'application/json' },
    body: '{}',
    bearers: ['a', 'b'],
  });
  expect(json).toMatchObject({ HEADERS: 'content-type: application/json\n', TOKENS: 'a b' });
});

test('what wrk says before is not read; no answers at all are no rate', () => {
  const line = (requests: number) => JSON.stringify({ requests, durationMs: 1_000, failures: 0 });
  expect(readDone(`Running 1s test\n  1 threads\n${line(5)}\n`)).toMatchObject({ requests: 5 });
  expect(() => readDone(line(0))).toThrow('no answer');
});
