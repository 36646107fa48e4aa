import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { OperatorLink } from '../location.tsx';
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
                label: 'Account',
                cell: ({ account_id }) => (
                  <OperatorLink to={`/accounts/${String(account_id)}`}>{account_id}</OperatorLink>
                ),
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

const WHAT: Readonly<Record<string, string>> = {
  resetTwoFactor: 'Reset two-factor authentication',
  carryOutAccountDeletion: 'Erase the account now',
};

function whatOf({ operation, body }: PendingAct): string {
  const points = body?.['points'];
  if (typeof points === 'number') return `Grant ${formatNumber(points)} points`;
  return WHAT[operation] ?? operation;
}

/** Its own operator can only withdraw it. */
function Decide({ act }: { act: PendingAct }) {
  const [opened, setOpened] = useState<'confirm' | 'decline' | null>(null);
  const queryClient = useQueryClient();
  const close = () => {
    setOpened(null);
  };
  const decline = act.is_own ? 'Withdraw' : 'Decline';
  const what = `${whatOf(act)}, account ${String(act.account_id)}`;
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
        {opened === 'confirm' && (
          <p>It is done at once, in your name and theirs. Look at the account before you confirm.</p>
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
