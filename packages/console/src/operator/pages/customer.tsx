import { useQuery } from '@tanstack/react-query';
import { hasStatus } from '../../api/client.ts';
import { Moment, PeriodDays } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import type { OperatorSession } from '../api/client.ts';
import { AccountLink } from '../location.tsx';
import { AccountActivity } from './activity.tsx';
import { AddPeriod } from './add-period.tsx';
import { BillingLists } from './customer-billing.tsx';
import { Block, CancelDeletion, ChangeEmail, ResetTwoFactor } from './customer-acts.tsx';
import { AccessLists } from './customer-access.tsx';
import { SentAndSessions } from './customer-mail.tsx';
import { AccountState } from './customers.tsx';
import { GrantCredits } from './grant-credits.tsx';
import { PeriodUsage } from './period-usage.tsx';
import { accountQuery } from './queries.ts';
import type { AccountSummary } from './queries.ts';
import { ViewAs } from './view-as.tsx';

type Role = OperatorSession['role'];

/** `/operator/accounts/{account_id}`: what support and finance need of one customer. Tokens are never shown. */
export function CustomerPage({ accountId, role }: { accountId: number; role: Role }) {
  const account = useQuery(accountQuery(accountId));
  if (account.isPending) return <Skeleton />;
  if (account.isError) {
    if (hasStatus(account.error, 404)) return <PageHeader title="There is no such account" />;
    return (
      <>
        <PageHeader title="Account" />
        <ErrorMessage error={account.error} what="the account" onRetry={() => void account.refetch()} />
      </>
    );
  }
  const isSupport = role === 'support' || role === 'admin';
  const isFinance = role === 'finance' || role === 'admin';
  return (
    <>
      <PageHeader title={account.data.email}>
        <div className={page['actions']}>
          {isSupport && (
            <>
              <ViewAs account={account.data} role={role} />
              <ResetTwoFactor account={account.data} />
              <ChangeEmail account={account.data} />
              {account.data.deletion_due_at !== null && <CancelDeletion account={account.data} />}
            </>
          )}
          {role !== 'viewer' && <Block account={account.data} />}
        </div>
      </PageHeader>
      <Facts account={account.data} />
      <PeriodUsage account={account.data} />
      <BillingLists account={account.data} canChange={isFinance} canBlock={role !== 'viewer'} />
      <AccessLists account={account.data} canRevoke={isSupport} />
      <SentAndSessions account={account.data} canAct={isSupport} />
      {isFinance && (
        <>
          <GrantCredits accountId={accountId} />
          <AddPeriod account={account.data} />
        </>
      )}
      <AccountActivity accountId={accountId} />
    </>
  );
}

function Facts({ account }: { account: AccountSummary }) {
  const { billing_period: period, team } = account;
  return (
    <section className={page['card']} aria-label="Account">
      <dl className={page['facts']}>
        <dt>Account</dt>
        <dd>
          {account.account_id} <AccountState {...account} />
        </dd>
        <dt>Name</dt>
        <dd>
          <bdi>{account.name}</bdi>
        </dd>
        <dt>Created</dt>
        <dd>
          <Moment at={account.created_at} />
        </dd>
        <dt>Calls</dt>
        <dd>
          {account.status}
          {account.payer_id !== account.account_id && (
            <>
              , paid by <AccountLink accountId={account.payer_id}>account {account.payer_id}</AccountLink>
            </>
          )}
        </dd>
        <dt>Plan</dt>
        <dd>
          {period === null ? (
            'None'
          ) : (
            <>
              <bdi>{period.plan_name}</bdi>, <PeriodDays period={period} />
            </>
          )}
        </dd>
        <dt>Team</dt>
        <dd>
          {team === null ? (
            'None'
          ) : (
            <>
              <bdi>{team.name}</bdi> ({team.role})
            </>
          )}
        </dd>
      </dl>
      {account.payment_blocks.map(({ reason, blocks_at }) => (
        <p key={`${reason} ${blocks_at}`}>
          A {reason} isn’t settled. Calls are refused from <Moment at={blocks_at} />.
        </p>
      ))}
    </section>
  );
}
