import { expect, test } from '@jest/globals';
import { inOrder } from './member-order.ts';

const member = (name: string, joined_at: string, points: number | null) => ({
  name,
  joined_at,
  usage: points === null ? null : { points_usage: points },
});

const TEAM = [
  member('Grace', '2026-11-01T00:00:00Z', 5),
  member('Ada', '2026-11-03T00:00:00Z', null),
  member('élise', '2026-11-02T00:00:00Z', 9),
  member('Alan', '2026-11-04T00:00:00Z', 0),
];

test.each([
  ['points', ['élise', 'Grace', 'Ada', 'Alan']],
  ['name', ['Ada', 'Alan', 'élise', 'Grace']],
  ['joined', ['Alan', 'Ada', 'élise', 'Grace']],
] as const)('by %s: %j', (order, names) => {
  expect(inOrder(TEAM, order).map(({ name }) => name)).toEqual(names);
});
