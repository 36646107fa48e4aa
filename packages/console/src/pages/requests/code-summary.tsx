import { Link } from '@tanstack/react-router';
import { explainCode } from '../../api/code-explanations.ts';
import { formatNumber, formatShare } from '../../ui/format.ts';
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
      <div className={page['scroll']} role="group" aria-labelledby="by-code" tabIndex={0}>
        <table className={page['table']}>
          <thead>
            <tr>
              <th scope="col">Code</th>
              <th scope="col" className={page['number']}>
                Calls
              </th>
              <th scope="col" className={page['number']}>
                Share
              </th>
              <th scope="col">Last</th>
              <th scope="col">Filter</th>
            </tr>
          </thead>
          <tbody>
            {counts.codes.map(({ code, calls, last_at }) => (
              <tr key={code}>
                <td>
                  <span className={styles['title']}>{explainCode(code).title}</span>
                  <code className={page['muted']}>{code}</code>
                </td>
                <td className={page['number']}>{formatNumber(calls)}</td>
                <td className={page['number']}>{formatShare(calls / counts.calls)}</td>
                <td className={styles['moment']}>
                  <Moment at={last_at} />
                </td>
                <td>
                  <Link
                    to="/requests"
                    search={search.code === code ? withoutCode : { ...search, code }}
                    aria-label={search.code === code ? 'Show all codes' : `Show only ${code}`}
                  >
                    {search.code === code ? 'Show all' : 'Show only'}
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
