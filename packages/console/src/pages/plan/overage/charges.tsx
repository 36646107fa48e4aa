import { formatNumber } from '../../../ui/format.ts';
import { Table } from '../../../ui/list/table.tsx';
import { Moment } from '../../../ui/moment.tsx';
import { Badge } from '../../../ui/page/states.tsx';
import { formatAmount } from '../credits/price.ts';
import type { OverageCharge } from './queries.ts';

/** The latest ones; nothing before the first. */
export function Charges({ charges }: { charges: readonly OverageCharge[] }) {
  if (charges.length === 0) return null;
  return (
    <>
      <h3>Latest charges</h3>
      <Table
        label="Latest charges"
        rows={charges}
        keyOf={({ charge_id }) => charge_id}
        columns={[
          {
            label: 'Charged',
            onCard: 'title',
            cell: ({ created_at }) => <Moment at={created_at} />,
          },
          { label: 'State', onCard: 'status', cell: State },
          { label: 'Points', align: 'end', cell: ({ points }) => formatNumber(points) },
          {
            label: 'Amount without tax',
            align: 'end',
            cell: (charge) => formatAmount(charge.amount, charge),
          },
        ]}
      />
    </>
  );
}

function State({ is_invoiced }: OverageCharge) {
  return is_invoiced ? <Badge tone="good">Invoiced</Badge> : <Badge tone="neutral">To be invoiced</Badge>;
}
