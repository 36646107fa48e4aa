import { expect, test } from '@jest/globals';
import { createPriceLog } from './price-log.ts';

test('one line a minute for each origin and fault, which says how many were left out', () => {
  const lines: object[] = [];
  let nowMs = 0;
  const log = createPriceLog({ warn: (line: object) => lines.push(line) }, () => nowMs);
  for (let call = 0; call < 10; call += 1) log('http://one', 'missing');
  log('http://one', 'unreadable');
  log('http://two', 'missing');
  nowMs = 59_999;
  log('http://one', 'missing');
  nowMs = 60_000;
  log('http://one', 'missing');
  log('http://one', 'missing');
  expect(lines).toEqual([
    { upstream: 'http://one', fault: 'missing', suppressed: 0 },
    { upstream: 'http://one', fault: 'unreadable', suppressed: 0 },
    { upstream: 'http://two', fault: 'missing', suppressed: 0 },
    { upstream: 'http://one', fault: 'missing', suppressed: 10 },
  ]);
});
