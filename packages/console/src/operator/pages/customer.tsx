import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { hasStatus } from '../../api/client.ts';
import { explainCode } from '../../api/code-explanations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Moment, PeriodDays } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import type { OperatorSession } from '../api/client.ts';
import { REASON } from '../api/reason.ts';
import { AccountActivity } from './activity.tsx';
import { AddPeriod } from './add-period.tsx';
import { AccountState } from './customers.tsx';
import { GrantCredits } from './grant-credits.tsx';
import { Held } from './held.tsx';
import {
  accountQuery,
  applicationsQuery,
  cancelDeletion,
  creditsQuery,
  isWaiting,
  periodsQuery,
  refusalsQuery,
  resetTwoFactor,
  setBlocked,
  tokensQuery,
} from './queries.ts';
import type { AccountSummary } from './queries.ts';
import { ReasonField } from './reason-field.tsx';
import { Listed } from './section.tsx';
import { ViewAs } from './view-as.tsx';

type Role = OperatorSession['role'];

/** `/operator/accounts/{account_id}`: what support and finance need of one customer. Tokens are never shown. */
export function CustomerPage({ accountId, role }: { accountId: number; role: Role }) {
  const account = useQuery(accountQuery(accountId));
  if (account.isPending) return <Skeleton />;
  if (account.isError) {
    if (hasStatus(account.error, 404)) return <PageHeader title="There is no such account" />;
    return <ErrorMessage error={account.error} what="the account" onRetry={() => void account.refetch()} />;
  }
  return (
    <>
      <PageHeader title={account.data.email}>
        <div className={page['actions']}>
          {(role === 'support' || role === 'admin') && (
            <>
              <ViewAs account={account.data} role={role} />
              <ResetTwoFactor account={account.data} />
              {account.data.deletion_due_at !== null && <CancelDeletion account={account.data} />}
            </>
          )}
          {role !== 'viewer' && <Block account={account.data} />}
        </div>
      </PageHeader>
      <Facts account={account.data} />
      <Lists accountId={accountId} />
      {(role === 'finance' || role === 'admin') && (
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
          {account.payer_id !== account.account_id && `, paid by account ${String(account.payer_id)}`}
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

function Block({ account }: { account: AccountSummary }) {
  const isBlocked = account.blocked_at !== null;
  return (
    <ActOn
      account={account}
      action={isBlocked ? 'Unblock' : 'Block'}
      title={isBlocked ? 'Unblock this account?' : 'Block this account?'}
      isDangerous={!isBlocked}
      act={(reason) => setBlocked(account.account_id, !isBlocked, reason)}
    >
      {isBlocked
        ? 'Its calls are accepted again.'
        : 'Its calls, and those of members that it pays for, are refused within a second. Nothing is deleted.'}
    </ActOn>
  );
}

function ResetTwoFactor({ account }: { account: AccountSummary }) {
  return (
    <ActOn
      account={account}
      action="Reset two-factor"
      title="Reset two-factor authentication?"
      isDangerous
      needsReason
      isReasonMailed
      act={(reason) => resetTwoFactor(account.account_id, reason)}
    >
      The password is enough to sign in afterwards, and all sessions end. The owner is told by mail. Make sure
      that it is the owner who asks.
    </ActOn>
  );
}

function CancelDeletion({ account }: { account: AccountSummary }) {
  return (
    <ActOn
      account={account}
      action="Cancel deletion"
      title="Cancel the deletion?"
      isDangerous={false}
      act={(reason) => cancelDeletion(account.account_id, reason)}
    >
      The account works again. Revoked applications and tokens stay revoked. Make sure that it is the owner
      who asks.
    </ActOn>
  );
}

type ActOnProps = {
  account: AccountSummary;
  action: string;
  title: string;
  /** Asks for the address. */
  isDangerous: boolean;
  needsReason?: boolean;
  isReasonMailed?: boolean;
  act: (reason: string) => Promise<unknown>;
  /** What it does. */
  children: ReactNode;
};

/** A button and its dialog, which asks why. */
function ActOn({
  account,
  action,
  title,
  isDangerous,
  needsReason = false,
  isReasonMailed = false,
  act,
  children,
}: ActOnProps) {
  const [isOpen, setOpen] = useState(false);
  const [isHeld, setHeld] = useState(false);
  const queryClient = useQueryClient();
  return (
    <>
      {isHeld && <Held />}
      <Button
        variant={isDangerous ? 'danger' : 'secondary'}
        onPress={() => {
          setOpen(true);
        }}
      >
        {action}
      </Button>
      <ConfirmByName
        title={title}
        name={account.email}
        of="account"
        action={action}
        isOpen={isOpen}
        asksName={isDangerous}
        fields={(errors) => (
          <ReasonField errors={errors} isRequired={needsReason} isMailed={isReasonMailed} />
        )}
        onClose={() => {
          setOpen(false);
        }}
        onConfirm={async ({ [REASON]: reason = '' }) => {
          setHeld(isWaiting(await act(reason)));
        }}
        onDone={() => void queryClient.invalidateQueries({ queryKey: ['account', account.account_id] })}
      >
        <p>{children}</p>
      </ConfirmByName>
    </>
  );
}

function Lists({ accountId }: { accountId: number }) {
  return (
    <>
      <Listed
        title="Billing periods"
        query={periodsQuery(accountId)}
        none="No billing periods."
        keyOf={({ period_id }) => period_id}
        columns={[
          { label: 'Plan', onCard: 'title', cell: ({ plan_name }) => <bdi>{plan_name}</bdi> },
          { label: 'Days', cell: (period) => <PeriodDays period={period} /> },
          { label: 'Points used', align: 'end', cell: ({ usage }) => formatNumber(usage.points) },
          { label: 'Requests', align: 'end', cell: ({ usage }) => formatNumber(usage.requests) },
        ]}
      />
      <Listed
        title="Credits"
        query={creditsQuery(accountId)}
        none="No credits."
        keyOf={({ credit_id }) => credit_id}
        columns={[
          { label: 'Source', onCard: 'title', cell: ({ source }) => source },
          { label: 'Points', align: 'end', cell: ({ points }) => formatNumber(points) },
          { label: 'Left', align: 'end', cell: ({ points_remaining }) => formatNumber(points_remaining) },
          {
            label: 'Expires',
            cell: ({ expires_at }) => (expires_at === null ? 'Never' : <Moment at={expires_at} />),
          },
          { label: 'Note', cell: ({ note }) => <bdi>{note}</bdi> },
        ]}
      />
      <Listed
        title="Applications"
        query={applicationsQuery(accountId)}
        none="No applications."
        keyOf={({ application_id }) => application_id}
        columns={[
          { label: 'Name', onCard: 'title', cell: ({ name }) => <bdi>{name}</bdi> },
          { label: 'Client ID', cell: ({ client_id }) => <code>{client_id}</code> },
          { label: 'Used', cell: ({ last_used_at }) => <Used at={last_used_at} /> },
          { label: 'Status', onCard: 'status', cell: ({ status }) => <Status status={status} /> },
        ]}
      />
      <Listed
        title="Tokens"
        query={tokensQuery(accountId)}
        none="No manual tokens."
        keyOf={({ token_id }) => token_id}
        columns={[
          { label: 'Name', onCard: 'title', cell: ({ name }) => <bdi>{name}</bdi> },
          { label: 'Application', cell: ({ application_name }) => <bdi>{application_name}</bdi> },
          { label: 'Used', cell: ({ last_used_at }) => <Used at={last_used_at} /> },
          { label: 'Status', onCard: 'status', cell: ({ status }) => <Status status={status} /> },
        ]}
      />
      <Listed
        title="Refused and failed calls"
        query={refusalsQuery(accountId)}
        none="No call was refused or failed."
        keyOf={({ refused_call_id }) => refused_call_id}
        columns={[
          { label: 'When', onCard: 'title', cell: ({ at }) => <Moment at={at} /> },
          { label: 'Why', cell: (call) => <Why {...call} /> },
          { label: 'Request ID', cell: ({ request_id }) => <code>{request_id}</code> },
        ]}
      />
    </>
  );
}

/** As the customer's own page explains it, with what to tell them. */
function Why({ code, detail }: { code: string; detail: string | null }) {
  const { title, meaning, fix } = explainCode(code);
  return (
    <>
      {title} (<code>{code}</code>)
      <details>
        <summary>Explain</summary>
        {meaning !== undefined && <p>{meaning}</p>}
        {detail !== null && (
          <p>
            <bdi>{detail}</bdi>
          </p>
        )}
        {fix !== undefined && <p>{fix}</p>}
      </details>
    </>
  );
}

function Used({ at }: { at: string | null }) {
  return at === null ? 'Never' : <Moment at={at} />;
}

function Status({ status }: { status: string }) {
  // Applications and tokens write it differently.
  return <Badge tone={status.toLowerCase() === 'active' ? 'good' : 'neutral'}>{status}</Badge>;
}
