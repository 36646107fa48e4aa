import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { formatNumber } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import page from '../../ui/page/page.module.css';
import { nameOf } from '../../api/operation-name.ts';
import { dearestOperationsQuery } from './queries.ts';

/** The GraphQL operations that cost most in the last 30 days; nothing if none is known. */
export function DearestOperations() {
  const { data = [] } = useQuery(dearestOperationsQuery);
  if (data.length === 0) return null;
  return (
    <section aria-labelledby="dearest" className={page['card']}>
      <h2 id="dearest">Most expensive operations, last 30 days</h2>
      <Table
        label="Most expensive operations"
        rows={data}
        keyOf={({ hash, name }) => `${hash} ${name ?? ''}`}
        columns={[
          { label: 'Operation', onCard: 'title', cell: (operation) => <bdi>{nameOf(operation)}</bdi> },
          { label: 'Points', align: 'end', cell: (one) => formatNumber(one.points_usage) },
          { label: 'Requests', align: 'end', cell: (one) => formatNumber(one.requests_usage) },
        ]}
      />
      <p>
        <Link to="/operations" search={{ range: '30d' }}>
          All operations
        </Link>
      </p>
    </section>
  );
}
