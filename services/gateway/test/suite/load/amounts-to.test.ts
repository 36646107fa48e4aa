import { expect, test } from '@jest/globals';
import { amountsTo } from './amounts-to.ts';

const call = (points: number) => ({ points, bytes: 10 });
const total = (...points: number[]) => ({
  points: points.reduce((sum, one) => sum + one, 0),
  requests: points.length,
  traffic_bytes: points.length * 10,
});

test('a total is what is certain and any of what is possible, each once', () => {
  const [certain, possible] = [
    [call(3), call(4)],
    [call(10), call(20)],
  ];
  for (const counted of [total(3, 4), total(3, 4, 10), total(3, 4, 20), total(3, 4, 10, 20)]) {
    expect(amountsTo(counted, certain, possible)).toBe(true);
  }
  const wrong = [total(3), total(3, 4, 4), total(3, 4, 10, 10), total(3, 4, 11), total(7), total(3, 14)];
  for (const counted of wrong) expect(amountsTo(counted, certain, possible)).toBe(false);
});
