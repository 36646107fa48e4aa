import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { usageQuery } from '../../api/usage.ts';
import { formatNumber } from '../../ui/format.ts';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { useZone } from '../../ui/form/zone-field.tsx';
import { CallList } from './call-list.tsx';
import { CodeSummary } from './code-summary.tsx';
import { Filters } from './filters.tsx';
import { OverTime } from './over-time.tsx';
import { refusalCountsQuery, refusalsQuery } from './queries.ts';
import type { RefusalCounts } from './queries.ts';
import { RequestIdSearch } from './request-id-search.tsx';
import { DEFAULT_RANGE, RANGES, requestsSearch } from './search.ts';
import type { RequestsSearch } from './search.ts';
import { successText } from './success-rate.ts';
import page from '../../ui/page/page.module.css';
import styles from './requests.module.css';

/** `/user/requests`: which calls were refused or failed recently, why, and what to do about it. */
export function RequestsPage() {
  const search = requestsSearch(useSearch({ from: '/signed-in/requests' }));
  const navigate = useNavigate();
  const show = (next: RequestsSearch) => {
    void navigate({ to: '/requests', search: next });
  };
  const [hasSearched, setHasSearched] = useState(false);
  useZone();
  const isSearch = search.request_id !== undefined;
  return (
    <>
      <PageHeader title="Refused calls" />
      <p className={page['muted']}>
        Calls that were refused or failed, what each code means, and how to fix it. Calls that passed are in
        your usage.
      </p>
      <RequestIdSearch
        key={search.request_id}
        requestId={search.request_id}
        hasFocus={hasSearched}
        onSearch={(next) => {
          setHasSearched(true);
          show(next);
        }}
      />
      {!isSearch && <Numbers search={search} onShow={show} />}
      <Calls search={search} onShow={show} />
    </>
  );
}

type PartProps = { search: RequestsSearch; onShow: (search: RequestsSearch) => void };

function Numbers({ search, onShow }: PartProps) {
  const { code: _code, ...withoutCode } = search;
  const counts = useQuery(refusalCountsQuery(search));
  const ofAllCodes = useQuery(refusalCountsQuery(withoutCode));
  // Usage knows nothing of codes.
  const success = useSuccess(search.code === undefined ? counts.data : undefined, search);
  return (
    <>
      <Filters search={search} counts={counts.data} codes={ofAllCodes.data?.codes ?? []} onShow={onShow} />
      <p role="status" className={styles['total']}>
        {counts.data !== undefined && totalOf(counts.data, search)} {success}
      </p>
      {counts.isPending && <Skeleton rows={3} />}
      {counts.data === undefined && counts.isError && (
        <ErrorMessage error={counts.error} what="your refused calls" onRetry={() => void counts.refetch()} />
      )}
      {counts.data !== undefined && counts.data.calls > 0 && (
        <>
          <CodeSummary counts={counts.data} search={search} />
          <OverTime counts={counts.data} />
        </>
      )}
    </>
  );
}

/** How many calls succeeded in the range and of the application that are shown. */
function useSuccess(counts: RefusalCounts | undefined, { application }: RequestsSearch): string | null {
  const { data } = useQuery({
    ...usageQuery({
      interval: counts?.interval ?? 'hour',
      group_by: 'none',
      from: counts?.buckets[0]?.started_at ?? '',
      ...(application === undefined ? {} : { application_id: application }),
    }),
    enabled: counts !== undefined,
  });
  return counts === undefined || data === undefined ? null : successText(data.usage.requests_usage, counts);
}

function totalOf({ calls }: RefusalCounts, { range = DEFAULT_RANGE }: RequestsSearch): string {
  const { text } = RANGES[range];
  if (calls === 0) return `No refused calls ${text}.`;
  return `${formatNumber(calls)} ${calls === 1 ? 'call was' : 'calls were'} refused or failed ${text}.`;
}

function Calls({ search, onShow }: PartProps) {
  const refusals = useInfiniteQuery(refusalsQuery(search));
  const { data, error, isError, isPending, refetch } = refusals;
  const heading = useRef<HTMLHeadingElement>(null);
  return (
    <section className={styles['section']} aria-labelledby="calls">
      <h2 id="calls" ref={heading} tabIndex={-1}>
        {search.request_id === undefined ? 'Recent calls' : 'Search result'}
      </h2>
      {isPending && <Skeleton />}
      {data === undefined && isError && (
        <ErrorMessage error={error} what="your recent calls" onRetry={() => void refetch()} />
      )}
      {data !== undefined && (
        <CallList
          calls={data.pages.flatMap((one) => one.refusals)}
          viewerId={data.pages[0]?.account_id}
          search={search}
          onClear={(next) => {
            // The button goes, and its focus with it.
            heading.current?.focus();
            onShow(next);
          }}
          more={
            refusals.hasNextPage
              ? { isPending: refusals.isFetchingNextPage, load: () => void refusals.fetchNextPage() }
              : null
          }
        />
      )}
    </section>
  );
}
