import { useQuery } from '@tanstack/react-query';
import { formatNumber } from '../../../ui/format.ts';
import { Table } from '../../../ui/list/table.tsx';
import { Moment } from '../../../ui/moment.tsx';
import { Badge } from '../../../ui/page/states.tsx';
import { formatAmount } from '../credits/price.ts';
import { topUpsQuery } from './queries.ts';
import type { TopUpAttempt } from './queries.ts';

/** The latest ones; nothing before the first. */
export function Attempts() {
  const { data } = useQuery(topUpsQuery);
  if (data === undefined || data.length === 0) return null;
  return (
    <>
      <h3>Latest top-ups</h3>
      <Table
        label="Latest top-ups"
        rows={data}
        keyOf={({ top_up_id }) => top_up_id}
        columns={[
          { label: 'Pack', onCard: 'title', cell: ({ pack_name }) => <bdi>{pack_name}</bdi> },
          { label: 'State', onCard: 'status', cell: State },
          { label: 'Points', align: 'end', cell: ({ points }) => formatNumber(points) },
          { label: 'Price', align: 'end', cell: (topUp) => formatAmount(topUp.amount, topUp) },
          { label: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
        ]}
      />
    </>
  );
}

const STATES = {
  pending: { tone: 'neutral', label: 'Pending' },
  paid: { tone: 'good', label: 'Paid' },
  declined: { tone: 'danger', label: 'Declined' },
  canceled: { tone: 'neutral', label: 'Cancelled' },
} as const satisfies Record<TopUpAttempt['state'], unknown>;

function State({ state }: TopUpAttempt) {
  const { tone, label } = STATES[state];
  return <Badge tone={tone}>{label}</Badge>;
}
