import { useQuery } from '@tanstack/react-query';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { OperatorLink } from '../location.tsx';
import { addressOf } from './audit-filters.ts';
import { AuditTable } from './audit.tsx';
import { accountAuditQuery } from './queries.ts';

/** The latest changes to one account. */
export function AccountActivity({ accountId }: { accountId: number }) {
  const changes = useQuery(accountAuditQuery(accountId));
  return (
    <section className={page['card']} aria-labelledby="activity">
      <h2 id="activity">Activity</h2>
      {changes.isPending && <Skeleton rows={2} />}
      {changes.isError && (
        <ErrorMessage error={changes.error} what="the activity" onRetry={() => void changes.refetch()} />
      )}
      {changes.data?.length === 0 && <p className={page['muted']}>Nothing was changed.</p>}
      {changes.data !== undefined && changes.data.length > 0 && (
        <AuditTable entries={changes.data} isOfOneAccount />
      )}
      <p>
        <OperatorLink to={addressOf({ account_id: accountId })}>All changes to this account</OperatorLink>
      </p>
    </section>
  );
}
