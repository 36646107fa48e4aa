import { useQuery } from '@tanstack/react-query';
import { counted, formatNumber, formatShortDay } from '../../../ui/format.ts';
import { Table } from '../../../ui/list/table.tsx';
import { Moment } from '../../../ui/moment.tsx';
import page from '../../../ui/page/page.module.css';
import { Badge, ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import { Packs } from './packs.tsx';
import { formatAmount } from './price.ts';
import { creditsQuery, packsQuery, purchasesQuery } from './queries.ts';
import type { Grant, Pack, Purchase } from './queries.ts';

/** Points in addition to the plan's: what is left of them, and what can be bought. Nothing where there is neither. */
export function Credits({ isMember }: { isMember: boolean }) {
  const credits = useQuery(creditsQuery);
  const packs = useQuery(packsQuery);
  const failed = [credits, packs].find(({ data, isError }) => isError && data === undefined);
  const offered = isMember ? [] : packs.data;
  const grants = credits.data?.grants;
  if (grants?.length === 0 && offered?.length === 0) return null;
  return (
    <section className={page['card']} aria-labelledby="credits">
      <h2 id="credits">Credits</h2>
      {failed !== undefined && (
        <ErrorMessage error={failed.error} what="your credits" onRetry={() => void failed.refetch()} />
      )}
      {failed === undefined && (credits.data === undefined || offered === undefined) && <Skeleton />}
      {credits.data !== undefined && offered !== undefined && (
        <Loaded
          left={credits.data.points_remaining}
          overuse={credits.data.overuse_points}
          grants={credits.data.grants}
          packs={offered}
        />
      )}
    </section>
  );
}

type LoadedProps = { left: number; overuse: number; grants: readonly Grant[]; packs: readonly Pack[] };

function Loaded({ left, overuse, grants, packs }: LoadedProps) {
  return (
    <>
      <p>
        <strong>{counted(left, 'point')}</strong> left in addition to your plan’s. Calls use your plan’s
        points first, then these: “Points used” counts both.
      </p>
      {overuse > 0 && (
        <p>
          Your calls used {counted(overuse, 'point')} more than you had. Your next purchase pays for them
          first.
        </p>
      )}
      {grants.length > 0 && (
        <Table
          label="Credits"
          rows={grants}
          keyOf={({ credit_id }) => credit_id}
          columns={[
            { label: 'From', onCard: 'title', cell: ({ source }) => SOURCES[source] },
            {
              label: 'Left',
              align: 'end',
              cell: ({ points_remaining, points }) =>
                `${formatNumber(points_remaining)} of ${formatNumber(points)}`,
            },
            { label: 'Available from', cell: ({ effective_at }) => <Moment at={effective_at} /> },
            {
              label: 'Expires',
              cell: ({ expires_at }) => (expires_at === null ? 'Never' : formatShortDay(expires_at)),
            },
          ]}
        />
      )}
      {packs.length > 0 && (
        <>
          <Packs packs={packs} />
          <Purchases />
        </>
      )}
    </>
  );
}

const SOURCES: Readonly<Record<Grant['source'], string>> = {
  purchase: 'Purchase',
  promotion: 'Promotion',
  compensation: 'Compensation',
  carry_over: 'Carried over',
  overage: 'Beyond the included points',
};

/** The latest ones; nothing before the first. */
function Purchases() {
  const { data } = useQuery(purchasesQuery);
  if (data === undefined || data.length === 0) return null;
  return (
    <>
      <h3>Latest purchases</h3>
      <Table
        label="Latest purchases"
        rows={data}
        keyOf={({ purchase_id }) => purchase_id}
        columns={[
          { label: 'Pack', onCard: 'title', cell: ({ pack_name }) => <bdi>{pack_name}</bdi> },
          { label: 'State', onCard: 'status', cell: State },
          { label: 'Points', align: 'end', cell: ({ points }) => formatNumber(points) },
          { label: 'Price', align: 'end', cell: (purchase) => formatAmount(purchase.amount, purchase) },
          { label: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
        ]}
      />
    </>
  );
}

const STATES = {
  open: { tone: 'neutral', label: 'Not paid' },
  processing: { tone: 'neutral', label: 'Processing' },
  paid: { tone: 'good', label: 'Paid' },
  expired: { tone: 'neutral', label: 'Expired' },
  failed: { tone: 'danger', label: 'Payment failed' },
  refunded: { tone: 'neutral', label: 'Refunded' },
} as const satisfies Record<Purchase['state'], unknown>;

function State({ state, checkout_url }: Purchase) {
  const { tone, label } = STATES[state];
  return (
    <>
      <Badge tone={tone}>{label}</Badge>
      {checkout_url !== null && (
        <>
          {' '}
          <a href={checkout_url}>Pay</a>
        </>
      )}
    </>
  );
}
