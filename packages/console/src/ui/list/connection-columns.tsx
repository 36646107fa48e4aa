import { formatNumber } from '../format.ts';
import type { Column } from './table.tsx';
import { Moment } from '../moment.tsx';
import { Badge } from '../page/states.tsx';

/** What the lists of the account's and of its team's connected applications show alike. */
type Listed = {
  name: string;
  is_verified: boolean;
  developer: string | null;
  last_used_at: string | null;
  points_usage: number;
};

export const APPLICATION: Column<Listed> = {
  label: 'Application',
  onCard: 'title',
  cell: ({ name, is_verified }) => (
    <>
      <bdi>{name}</bdi> {is_verified && <Badge tone="good">Verified</Badge>}
    </>
  ),
};

export const MADE_BY: Column<Listed> = {
  label: 'Made by',
  cell: ({ developer }) => <bdi>{developer ?? 'Unknown'}</bdi>,
};

export const USE: readonly Column<Listed>[] = [
  {
    label: 'Last used',
    cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Moment at={last_used_at} />),
  },
  {
    label: 'Points, 30 days',
    align: 'end',
    cell: ({ points_usage }) => formatNumber(points_usage),
  },
];
