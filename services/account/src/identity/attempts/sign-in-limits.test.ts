import { expect, test } from '@jest/globals';
import { createSlowDown } from './sign-in-limits.ts';

/** The first number of failures of an account that delays the next attempt. */
const DELAYED = 21;

test('ten attempts from one network are delayed at once; the next is refused, and other networks have their own ten', async () => {
  const slowDown = createSlowDown();
  const delayed = Array.from({ length: 10 }, () => slowDown(DELAYED, 'one network'));
  await expect(slowDown(DELAYED, 'one network')).rejects.toMatchObject({ code: 'service_unavailable' });
  await slowDown(DELAYED, 'another network');
  await Promise.all(delayed);
  await slowDown(DELAYED, 'one network');
});
