import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useCallback, useEffect, useState } from 'react';
import { addressesQuery } from '../../api/addresses.ts';
import type { Addresses } from '../../api/addresses.ts';
import { examplesQuery } from '../../api/examples.ts';
import type { Example } from '../../api/examples.ts';
import { OPENED, explorerStorage } from '../../api/explorer-storage.ts';
import { sessionQuery } from '../../api/session.ts';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { paceQuery } from '../overview/queries.ts';
import { SelectField } from '../../ui/form/select-field.tsx';
import { loadPart } from '../../ui/part/load-part.ts';
import { LightBench } from './light/light-bench.tsx';
import { firstQuery } from './light/first-query.ts';
import { ESTIMATES_KEY } from './use-estimate.ts';
import { useToken } from './use-token.ts';
import styles from './workbench/workbench.module.css';

const SKELETON_ROWS = 10;

/** GraphiQL is larger than the rest of the interface: it loads behind a plain field, which works at once. */
async function loadWorkbench() {
  const [{ Workbench: component }, { defineThemes }] = await Promise.all([
    import('./workbench/workbench.tsx'),
    import('./monaco/theme.ts'),
    // Monaco measures the typeface once.
    document.fonts.load("13px 'JetBrains Mono Variable'"),
  ]);
  defineThemes();
  return component;
}

/** `/user/explorer`: queries and subscriptions against the data endpoint. */
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
  const examples = useQuery(examplesQuery);
  const onUsed = useCallback(() => {
    void queryClient.invalidateQueries({ queryKey: paceQuery.queryKey });
    void queryClient.invalidateQueries({ queryKey: ESTIMATES_KEY });
  }, [queryClient]);
  const failed = [addresses, pace].find(({ data, isError }) => data === undefined && isError);
  if (failed !== undefined)
    return <ErrorMessage error={failed.error} what="the explorer" onRetry={() => void failed.refetch()} />;
  if (addresses.data === undefined || pace.data === undefined || examples.isPending || !session.data) {
    return <Skeleton rows={SKELETON_ROWS} />;
  }
  if (pace.data === null) return <NoPlan />;
  if (pace.data.status === 'blocked') return <Blocked />;
  if (pace.data.status === 'expired') return <Expired />;
  const points = pace.data.limits.points_limit;
  return (
    <Benches
      accountId={session.data.account_id}
      addresses={addresses.data}
      examples={examples.data ?? []}
      pointsLeft={points === undefined ? null : Math.max(points.limit - points.usage, 0)}
      onUsed={onUsed}
    />
  );
}

type BenchesProps = {
  accountId: number;
  addresses: Addresses;
  examples: readonly Example[];
  pointsLeft: number | null;
  onUsed: () => void;
};

/** The plain field, and then the editors, once they have loaded and the field isn't in use. */
function Benches({ accountId, addresses, examples, pointsLeft, onUsed }: BenchesProps) {
  const { token, options, chosen, setChosen } = useToken();
  const [storage] = useState(() => explorerStorage(accountId));
  // As if it were typed: it is shown beside what was there before.
  const [typed, setTyped] = useState(() => storage.getItem(OPENED));
  useEffect(() => {
    storage.removeItem(OPENED);
  }, [storage]);
  const [isBusy, setBusy] = useState(false);
  const Workbench = useWorkbench(isBusy);
  const [first] = useState(() => firstQuery(storage, examples));
  return (
    <>
      {options.length > 1 && (
        <div className={styles['toolbar']}>
          <SelectField label="Call with" name="token" options={options} value={chosen} onChange={setChosen} />
        </div>
      )}
      {Workbench === null ? (
        <LightBench
          dataUrl={addresses.dataUrl}
          token={token}
          query={typed ?? first}
          onTyped={setTyped}
          onBusy={setBusy}
          pointsLeft={pointsLeft}
          onUsed={onUsed}
        />
      ) : (
        <Workbench
          accountId={accountId}
          addresses={addresses}
          examples={examples}
          token={token}
          typed={typed}
          pointsLeft={pointsLeft}
          onUsed={onUsed}
        />
      )}
    </>
  );
}

type WorkbenchPart = Awaited<ReturnType<typeof loadWorkbench>>;

/** The editors; null until they have loaded, and while the field is in use. */
function useWorkbench(isBusy: boolean): WorkbenchPart | null {
  const [loaded, setLoaded] = useState<WorkbenchPart | null>(null);
  const [shown, setShown] = useState<WorkbenchPart | null>(null);
  useEffect(() => {
    let isLeft = false;
    loadPart(loadWorkbench).then(
      (part) => {
        if (!isLeft) setLoaded(() => part);
      },
      (error: unknown) => {
        // For the page's own message of a part that is gone.
        setLoaded(() => {
          throw error;
        });
      },
    );
    return () => {
      isLeft = true;
    };
  }, []);
  if (shown === null && loaded !== null && !isBusy) setShown(() => loaded);
  return shown;
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
