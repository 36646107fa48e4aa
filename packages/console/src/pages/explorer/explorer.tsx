import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Suspense, useCallback } from 'react';
import { addressesQuery } from '../../api/addresses.ts';
import { sessionQuery } from '../../api/session.ts';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { paceQuery } from '../overview/queries.ts';
import { lazyPart } from '../../ui/part/lazy-part.ts';

const SKELETON_ROWS = 10;

/** GraphiQL is larger than the rest of the interface; it loads when this page is opened. */
const Workbench = lazyPart(async () => {
  const [{ Workbench: component }, { defineThemes }] = await Promise.all([
    import('./workbench/workbench.tsx'),
    import('./monaco/theme.ts'),
    // Monaco measures the typeface once.
    document.fonts.load("13px 'JetBrains Mono Variable'"),
  ]);
  defineThemes();
  return component;
});

/** `/user/explorer`: queries and subscriptions against the data endpoint, with the temporary token. */
export function ExplorerPage() {
  return (
    <>
      <PageHeader title="Explorer" />
      <Explorer />
    </>
  );
}

function Explorer() {
  const queryClient = useQueryClient();
  const session = useQuery(sessionQuery);
  const addresses = useQuery(addressesQuery);
  const pace = useQuery(paceQuery);
  const onUsed = useCallback(() => {
    void queryClient.invalidateQueries({ queryKey: paceQuery.queryKey });
  }, [queryClient]);
  const failed = [addresses, pace].find(({ data, isError }) => data === undefined && isError);
  if (failed !== undefined)
    return <ErrorMessage error={failed.error} onRetry={() => void failed.refetch()} />;
  if (addresses.data === undefined || pace.data === undefined || !session.data) {
    return <Skeleton rows={SKELETON_ROWS} />;
  }
  if (pace.data === null) return <NoPlan />;
  if (pace.data.status === 'blocked') return <Blocked />;
  if (pace.data.status === 'expired') return <Expired />;
  const points = pace.data.limits.points_limit;
  return (
    <Suspense fallback={<Skeleton rows={SKELETON_ROWS} />}>
      <Workbench
        accountId={session.data.account_id}
        addresses={addresses.data}
        pointsLeft={points === undefined ? null : Math.max(points.limit - points.usage, 0)}
        onUsed={onUsed}
      />
    </Suspense>
  );
}

function NoPlan() {
  return (
    <Empty title="You have no plan yet">
      <p>The explorer runs real calls, and calls are refused until your account has a plan.</p>
      <Link to="/">Go to the overview</Link>
    </Empty>
  );
}

function Blocked() {
  return (
    <Empty title="Your account is blocked">
      <p>Calls are refused while the account, its payer or the billing period is blocked. Contact support.</p>
    </Empty>
  );
}

function Expired() {
  return (
    <Empty title="Your billing period has ended">
      <p>Calls are refused until you renew your plan.</p>
      <Link to="/">Go to the overview</Link>
    </Empty>
  );
}
