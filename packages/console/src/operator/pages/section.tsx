import { useQuery } from '@tanstack/react-query';
import type { UseQueryOptions } from '@tanstack/react-query';
import { useId } from 'react';
import type { ReactNode } from 'react';
import { Table } from '../../ui/list/table.tsx';
import type { Column } from '../../ui/list/table.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';

type ListedProps<Row, Key extends readonly unknown[]> = {
  title: string;
  query: UseQueryOptions<Row[], Error, Row[], Key>;
  columns: readonly Column<Row>[];
  keyOf: (row: Row) => number | string;
  /** Where there is nothing. */
  none: string;
  /** What can be done with a row. */
  actions?: ((row: Row) => ReactNode) | undefined;
  children?: ReactNode;
};

/** A heading and the newest rows of a list, in every state. */
export function Listed<Row, Key extends readonly unknown[]>({
  title,
  query,
  columns,
  keyOf,
  none,
  actions,
  children,
}: ListedProps<Row, Key>) {
  const heading = useId();
  const rows = useQuery(query);
  return (
    <section className={page['card']} aria-labelledby={heading}>
      <h2 id={heading}>{title}</h2>
      {rows.isPending && <Skeleton rows={2} />}
      {rows.isError && (
        <ErrorMessage error={rows.error} what={title.toLowerCase()} onRetry={() => void rows.refetch()} />
      )}
      {rows.data?.length === 0 && <p className={page['muted']}>{none}</p>}
      {rows.data !== undefined && rows.data.length > 0 && (
        <Table label={title} rows={rows.data} columns={columns} keyOf={keyOf} actions={actions} />
      )}
      {children}
    </section>
  );
}
