import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { fetchOperationsCsv, operationsQuery } from '../../api/operations.ts';
import type { OperationUsage, UsedOperation } from '../../api/operations.ts';
import { Button } from '../../ui/button.tsx';
import { DownloadButton } from '../../ui/page/download-button.tsx';
import { formatNumber, formatShare } from '../../ui/format.ts';
import { SelectField } from '../../ui/form/select-field.tsx';
import { Table } from '../../ui/list/table.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import page from '../../ui/page/page.module.css';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { OperationDialog } from './operation-dialog.tsx';
import { nameOf } from '../../api/operation-name.ts';
import styles from './operations.module.css';
import { DEFAULT_RANGE, RANGES, operationsSearch } from './search.ts';
import { Trend } from './trend.tsx';

const RANGE_OPTIONS = Object.entries(RANGES).map(([value, { label }]) => ({ value, label }));

/** `/user/operations`: which GraphQL operations use the points, and how long they take. */
export function OperationsPage() {
  const { range = DEFAULT_RANGE } = operationsSearch(useSearch({ from: '/signed-in/operations' }));
  const navigate = useNavigate();
  const { days } = RANGES[range];
  const { data, error, isError, isPending, isPlaceholderData, refetch } = useQuery(operationsQuery(days));
  return (
    <>
      <PageHeader title="Operations">
        <DownloadButton load={() => fetchOperationsCsv(days)} />
      </PageHeader>
      <p className={page['muted']}>
        Which GraphQL operations use your points. Operations that differ only in their literals are one; what
        you send in literals and variables isn’t stored.
      </p>
      <div className={styles['controls']}>
        <SelectField
          label="Range"
          name="range"
          options={RANGE_OPTIONS}
          value={range}
          onChange={(value) => {
            void navigate({ to: '/operations', search: { range: value } });
          }}
        />
      </div>
      {isPending && <Skeleton rows={8} />}
      {data === undefined && isError && (
        <ErrorMessage error={error} what="your operations" onRetry={() => void refetch()} />
      )}
      {data?.operations.length === 0 && <NoOperations usage={data} />}
      {data !== undefined && data.operations.length > 0 && (
        <Operations usage={data} isBusy={isPlaceholderData} />
      )}
    </>
  );
}

function NoOperations({ usage }: { usage: OperationUsage }) {
  return (
    <Empty title="No operations in this time">
      {usage.requests_usage > 0 ? (
        <p>
          Your calls sent no documents that can be told apart. <Link to="/usage">Usage</Link> has their
          points.
        </p>
      ) : (
        <p>
          Run a query in the <Link to="/explorer">explorer</Link>, or call the API: it appears here within
          seconds.
        </p>
      )}
    </Empty>
  );
}

function Operations({ usage, isBusy }: { usage: OperationUsage; isBusy: boolean }) {
  const [shown, setShown] = useState<UsedOperation | null>(null);
  const { operations, others, points_usage } = usage;
  const shareOf = (points: number) => {
    if (points_usage === 0) return '–';
    const share = points / points_usage;
    return share > 0 && share < 0.01 ? '<1%' : formatShare(share);
  };
  return (
    <section className={page['card']} aria-label="Operations" aria-busy={isBusy}>
      <Table
        label="Operations"
        rows={operations}
        keyOf={keyOf}
        columns={[
          {
            label: 'Operation',
            onCard: 'title',
            cell: (operation) => (
              <Button
                isReading
                variant="quiet"
                aria-label={`Show ${nameOf(operation)}`}
                onPress={() => {
                  setShown(operation);
                }}
              >
                <bdi>{nameOf(operation)}</bdi>
              </Button>
            ),
          },
          { label: 'Points', align: 'end', cell: (one) => formatNumber(one.points_usage) },
          { label: 'Share', align: 'end', cell: (one) => shareOf(one.points_usage) },
          { label: 'Trend', onCard: 'none', cell: (one) => <Trend usage={usage} operation={one} /> },
          { label: 'Requests', align: 'end', cell: (one) => formatNumber(one.requests_usage) },
          { label: 'Errors', align: 'end', cell: (one) => formatNumber(one.errors) },
          { label: 'p50', align: 'end', cell: (one) => milliseconds(one.p50_ms) },
          { label: 'p95', align: 'end', cell: (one) => milliseconds(one.p95_ms) },
        ]}
      />
      {others.requests_usage + others.points_usage > 0 && (
        <p className={page['muted']}>
          All other usage: {formatNumber(others.points_usage)} points ({shareOf(others.points_usage)}) in{' '}
          {formatNumber(others.requests_usage)} requests.
        </p>
      )}
      <OperationDialog
        operation={shown}
        onClose={() => {
          setShown(null);
        }}
      />
    </section>
  );
}

const keyOf = ({ hash, name }: UsedOperation) => `${hash} ${name ?? ''}`;

function milliseconds(ms: number | null): string {
  return ms === null ? '–' : `${formatNumber(ms)} ms`;
}
