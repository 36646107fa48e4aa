import { infiniteQueryOptions, useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { SelectField } from '../../../ui/form/select-field.tsx';
import { Table } from '../../../ui/list/table.tsx';
import { Moment } from '../../../ui/moment.tsx';
import { ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import styles from '../../../ui/page/page.module.css';
import { Section } from '../section.tsx';
import { activityText, actorText } from './activity-text.ts';
import type { Activity as Entry } from './activity-text.ts';

const KINDS = [
  { value: 'all', label: 'All' },
  { value: 'security', label: 'Sign-in and security' },
  { value: 'applications', label: 'Applications and tokens' },
  { value: 'team', label: 'Team' },
  { value: 'billing', label: 'Plan and billing' },
  { value: 'alerts', label: 'Alerts and webhooks' },
] as const;

type Kind = (typeof KINDS)[number]['value'];

const PAGE = 20;

const activityQuery = (kind: Kind) =>
  infiniteQueryOptions({
    queryKey: ['account', 'activity', kind],
    queryFn: ({ signal, pageParam }) => {
      const query = {
        limit: PAGE,
        ...(kind === 'all' ? {} : { kind }),
        ...(pageParam === null ? {} : { cursor: pageParam }),
      };
      return resultOf(api.GET('/api/console/activity', { signal, params: { query } }));
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor }) => next_cursor,
  });

/** What was done in the account, by whom and from where. */
export function Activity() {
  const [kind, setKind] = useState<Kind>('all');
  const { data, isPending, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } =
    useInfiniteQuery(activityQuery(kind));
  const entries = data?.pages.flatMap(({ activity }) => activity) ?? [];
  const select = (value: string) => {
    setKind(KINDS.find((each) => each.value === value)?.value ?? 'all');
  };
  return (
    <Section
      title="Account activity"
      status={<SelectField label="Show" name="kind" options={KINDS} value={kind} onChange={select} />}
    >
      {isPending && <Skeleton />}
      {error !== null && <ErrorMessage error={error} what="your activity" onRetry={() => void refetch()} />}
      {data !== undefined && entries.length === 0 && <p>Nothing of this kind has happened yet.</p>}
      {entries.length > 0 && <ActivityTable entries={entries} />}
      {hasNextPage && (
        <div className={styles['actions']}>
          <Button isReading isPending={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            Show older activity
          </Button>
        </div>
      )}
    </Section>
  );
}

function ActivityTable({ entries }: { entries: readonly Entry[] }) {
  return (
    <Table
      label="Activity"
      rows={entries}
      keyOf={({ activity_id }) => activity_id}
      columns={[
        {
          label: 'What',
          onCard: 'title',
          cell: (entry) => (
            <span>
              <What {...activityText(entry)} />
            </span>
          ),
        },
        { label: 'Who', cell: (entry) => <bdi>{actorText(entry)}</bdi> },
        { label: 'Address', cell: ({ address }) => address ?? '–' },
        { label: 'When', cell: ({ at }) => <Moment at={at} /> },
      ]}
    />
  );
}

/** Such as `Generated token "laptop" for ETL`. */
function What({ label, subject, owner }: ReturnType<typeof activityText>) {
  return (
    <>
      {label}
      {subject !== undefined && (
        <>
          {' '}
          "<bdi>{subject}</bdi>"
        </>
      )}
      {owner !== undefined && (
        <>
          {' '}
          for <bdi>{owner}</bdi>
        </>
      )}
    </>
  );
}
