import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Token } from '../../api/client.ts';
import { applicationsQuery } from '../applications/queries.ts';
import { SelectField } from '../../ui/form/select-field.tsx';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { tokensQuery } from './queries.ts';
import { TemporaryToken } from './temporary-token.tsx';
import { TokenTable } from './token-table.tsx';
import styles from '../../ui/page/page.module.css';

const ALL = 'all';
const STATUSES = [
  { value: ALL, label: 'All' },
  { value: 'Active', label: 'Active' },
  { value: 'Expired', label: 'Expired' },
  { value: 'Revoked', label: 'Revoked' },
] as const;

/** `/user/api_v2/access_tokens`: the manually created tokens of all applications, below the temporary one. */
export function TokensPage() {
  const tokens = useQuery(tokensQuery);
  const applications = useQuery(applicationsQuery);
  const [status, setStatus] = useState<string>(ALL);
  const names = new Map(
    applications.data?.applications.map(({ application_id, name }) => [application_id, name]),
  );
  const shown = tokens.data?.tokens.filter((token) => status === ALL || token.status === status) ?? [];
  return (
    <>
      <PageHeader title="Tokens" />
      <TemporaryToken />
      <section className={styles['card']} aria-labelledby="manual-tokens">
        <div className={styles['header']}>
          <h2 id="manual-tokens">Manually created access tokens</h2>
          <SelectField label="Status" name="status" options={STATUSES} value={status} onChange={setStatus} />
        </div>
        {tokens.isPending && <Skeleton />}
        {tokens.data === undefined && tokens.isError && (
          <ErrorMessage error={tokens.error} onRetry={() => void tokens.refetch()} />
        )}
        {tokens.data?.tokens.length === 0 && (
          <Empty title="No tokens yet">
            <p>
              Open one of your <Link to="/api_v2/applications">applications</Link> to generate a token.
            </p>
          </Empty>
        )}
        {shown.length > 0 && (
          <TokenTable
            tokens={shown}
            applicationOf={({ application_id }: Token) => (
              <Link to="/api_v2/applications/$applicationId" params={{ applicationId: application_id }}>
                {names.get(application_id) ?? `Application ${String(application_id)}`}
              </Link>
            )}
          />
        )}
        {shown.length === 0 && (tokens.data?.tokens.length ?? 0) > 0 && <p>No token has this status.</p>}
      </section>
    </>
  );
}
