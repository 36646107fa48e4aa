import type { Member } from './queries.ts';

export const ORDERS = [
  { value: 'points', label: 'Most points' },
  { value: 'name', label: 'Name' },
  { value: 'joined', label: 'Newest member' },
] as const;

export type Order = (typeof ORDERS)[number]['value'];

type Ordered = Pick<Member, 'name' | 'joined_at'> & { usage?: { points_usage: number } | null };

const COMPARE: Readonly<Record<Order, (one: Ordered, other: Ordered) => number>> = {
  points: (one, other) => (other.usage?.points_usage ?? 0) - (one.usage?.points_usage ?? 0),
  name: (one, other) => one.name.localeCompare(other.name),
  joined: (one, other) => other.joined_at.localeCompare(one.joined_at),
};

/** Equal ones stay in the order of the team's list. */
export function inOrder<Row extends Ordered>(members: readonly Row[], order: Order): Row[] {
  return members.toSorted(COMPARE[order]);
}
