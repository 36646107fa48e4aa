import { expect, test } from '@jest/globals';
import { RANGES, requestsSearch } from './search.ts';

/** The page's address, which may have been typed. */

test('keeps what is right', () => {
  const search = { range: '7d', code: 'rate_limit_exceeded', application: 3 };
  expect(requestsSearch(search)).toEqual(search);
  expect(requestsSearch({ request_id: `X-Request-Id: ${'A'.repeat(32)}` })).toEqual({
    request_id: 'a'.repeat(32),
  });
});

test.each(['abc', 7, -1, 0, 1.5, null, true, [], ['7d'], {}, { range: '7d' }, 'constructor', '__proto__'])(
  'leaves out %p',
  (value) => {
    const { range, ...rest } = requestsSearch({ range: value, application: value, request_id: value });
    expect([undefined, ...Object.keys(RANGES)]).toContain(range);
    expect(rest).toEqual(value === 7 ? { application: 7 } : {});
  },
);
