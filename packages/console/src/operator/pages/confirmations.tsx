import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { AccountLink, OperatorLink } from '../location.tsx';
import { confirmAct, declineAct, pendingActsQuery } from './queries.ts';
import type { PendingAct } from './queries.ts';

/** `/operator/confirmations`: what operators have asked for and another one must confirm. */
export function ConfirmationsPage() {
  const acts = useQuery(pendingActsQuery);
  return (
    <>
      <PageHeader title="Confirmations" />
      <section className={page['card']} aria-labelledby="waiting">
        <h2 id="waiting">Waiting for a second operator</h2>
        {acts.isPending && <Skeleton rows={2} />}
        {acts.isError && (
          <ErrorMessage error={acts.error} what="what waits" onRetry={() => void acts.refetch()} />
        )}
        {acts.data?.length === 0 && <p className={page['muted']}>Nothing waits.</p>}
        {acts.data !== undefined && acts.data.length > 0 && (
          <Table
            label="Waiting"
            rows={acts.data}
            keyOf={({ act_id }) => act_id}
            columns={[
              { label: 'What', onCard: 'title', cell: (act) => whatOf(act) },
              {
                label: 'About',
                cell: (act) => <About act={act} />,
              },
              { label: 'By', cell: ({ requested_by }) => <bdi>{requested_by}</bdi> },
              { label: 'Reason', cell: ({ reason }) => <bdi>{reason ?? '–'}</bdi> },
              { label: 'Expires', cell: ({ expires_at }) => <Moment at={expires_at} /> },
            ]}
            actions={(act) => <Decide act={act} />}
          />
        )}
      </section>
    </>
  );
}

/** The account or the plan that it changes. */
function About({ act: { account_id, plan_id } }: { act: PendingAct }) {
  if (account_id !== null) {
    return <AccountLink accountId={account_id} />;
  }
  if (plan_id !== null) return <OperatorLink to={`/plans/${String(plan_id)}`}>Plan {plan_id}</OperatorLink>;
  return <OperatorLink to="/plans">Plans</OperatorLink>;
}

const WHAT: Readonly<Record<string, string>> = {
  resetTwoFactor: 'Reset two-factor authentication',
  carryOutAccountDeletion: 'Erase the account now',
  changePlan: 'Change the limits of a plan',
  applyPlans: 'Apply a file of plans',
};

function whatOf({ operation, body }: PendingAct): string {
  const { points, email } = body ?? {};
  if (typeof email === 'string') return `Change the address to ${email}`;
  if (typeof points === 'number') return `Grant ${formatNumber(points)} points`;
  return WHAT[operation] ?? operation;
}

/** Of a change of plans, what it says. */
function Sent({ body }: { body: Readonly<Record<string, unknown>> }) {
  return (
    <dl className={page['facts']}>
      {Object.entries(body).map(([name, value]) => (
        <Fragment key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

function aboutText({ account_id, plan_id }: PendingAct): string {
  if (account_id !== null) return `account ${String(account_id)}`;
  return plan_id === null ? 'plans' : `plan ${String(plan_id)}`;
}

/** Its own operator can only withdraw it. */
function Decide({ act }: { act: PendingAct }) {
  const [opened, setOpened] = useState<'confirm' | 'decline' | null>(null);
  const queryClient = useQueryClient();
  const close = () => {
    setOpened(null);
  };
  const decline = act.is_own ? 'Withdraw' : 'Decline';
  const what = `${whatOf(act)}, ${aboutText(act)}`;
  return (
    <>
      {act.is_own ? (
        <Badge tone="neutral">Yours</Badge>
      ) : (
        <Button
          variant="primary"
          aria-label={`Confirm: ${what}`}
          onPress={() => {
            setOpened('confirm');
          }}
        >
          Confirm
        </Button>
      )}
      <Button
        aria-label={`${decline}: ${what}`}
        onPress={() => {
          setOpened('decline');
        }}
      >
        {decline}
      </Button>
      <Dialog
        title={opened === 'confirm' ? 'Confirm it?' : `${decline} it?`}
        isOpen={opened !== null}
        onClose={close}
      >
        <p>
          {what}. <bdi>{act.requested_by}</bdi> says: <bdi>{act.reason ?? 'no reason'}</bdi>.
        </p>
        {act.account_id === null && act.body !== null && <Sent body={act.body} />}
        {opened === 'confirm' && (
          <p>It is done at once, in your name and theirs. Look at what it changes before you confirm.</p>
        )}
        <Form
          submitLabel={opened === 'confirm' ? 'Confirm' : decline}
          isDangerous={opened === 'confirm'}
          onCancel={close}
          onSubmit={() => (opened === 'confirm' ? confirmAct(act.act_id) : declineAct(act.act_id))}
          onDone={() => {
            close();
            void queryClient.invalidateQueries();
          }}
        >
          {() => null}
        </Form>
      </Dialog>
    </>
  );
}
