import { Link } from '@tanstack/react-router';
import { explainCode } from '../../api/code-explanations.ts';
import { formatNumber, formatShare } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import type { RefusalCounts } from './queries.ts';
import type { RequestsSearch } from './search.ts';
import page from '../../ui/page/page.module.css';
import styles from './requests.module.css';

type CodeSummaryProps = { counts: RefusalCounts; search: RequestsSearch };

/** How often each code occurred, most often first. */
export function CodeSummary({ counts, search }: CodeSummaryProps) {
  const { code: _code, ...withoutCode } = search;
  return (
    <section className={styles['section']} aria-labelledby="by-code">
      <h2 id="by-code">By code</h2>
      <Table
        label="By code"
        rows={counts.codes}
        keyOf={({ code }) => code}
        columns={[
          {
            label: 'Code',
            onCard: 'title',
            cell: ({ code }) => (
              <span>
                <span className={styles['title']}>{explainCode(code).title}</span>
                <code className={page['muted']}>{code}</code>
              </span>
            ),
          },
          { label: 'Calls', align: 'end', cell: ({ calls }) => formatNumber(calls) },
          { label: 'Share', align: 'end', cell: ({ calls }) => formatShare(calls / counts.calls) },
          { label: 'Last', cell: ({ last_at }) => <Moment at={last_at} /> },
        ]}
        actions={({ code }) => (
          <Link
            to="/requests"
            search={search.code === code ? withoutCode : { ...search, code }}
            aria-label={search.code === code ? 'Show all codes' : `Show only ${code}`}
          >
            {search.code === code ? 'Show all' : 'Show only'}
          </Link>
        )}
      />
    </section>
  );
}
