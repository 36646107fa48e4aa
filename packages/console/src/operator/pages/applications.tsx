import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import { Table } from '../../ui/list/table.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import type { OperatorSession } from '../api/client.ts';
import { REASON } from '../api/reason.ts';
import { AccountLink } from '../location.tsx';
import { accountQuery, actingApplicationsQuery, endVerification, verify } from './queries.ts';
import type { ActingApplication } from './queries.ts';
import { ReasonField } from './reason-field.tsx';

/** `/operator/applications`: the applications that act for other people, and which of them are verified. */
export function ApplicationsPage({ role }: { role: OperatorSession['role'] }) {
  const list = useInfiniteQuery(actingApplicationsQuery);
  const [changing, setChanging] = useState<ActingApplication | null>(null);
  const applications = list.data?.pages.flatMap((one) => one.applications) ?? [];
  const mayVerify = role === 'support' || role === 'admin';
  return (
    <>
      <PageHeader title="Applications" />
      <section className={page['card']} aria-labelledby="acting">
        <h2 id="acting">Applications that act for other people</h2>
        <p className={page['muted']}>
          People read on the consent page whether an application is verified. Check first who is behind its
          name, its account and its redirect URIs. A change of one of them ends the verification.
        </p>
        {list.isPending && <Skeleton />}
        {list.isError && (
          <ErrorMessage error={list.error} what="the applications" onRetry={() => void list.refetch()} />
        )}
        {list.data !== undefined && applications.length === 0 && (
          <p className={page['muted']}>No application acts for other people yet.</p>
        )}
        {applications.length > 0 && (
          <Table
            label="Applications"
            rows={applications}
            keyOf={({ application_id }) => application_id}
            columns={[
              { label: 'Name', onCard: 'title', cell: ({ name }) => <bdi>{name}</bdi> },
              { label: 'Made by', cell: (application) => <Developer {...application} /> },
              { label: 'Sends people to', cell: ({ redirect_uris }) => <Addresses of={redirect_uris} /> },
              { label: 'Status', onCard: 'status', cell: (application) => <State {...application} /> },
            ]}
            {...(mayVerify && {
              actions: (application: ActingApplication) =>
                (application.status === 'active' || application.verified_at !== null) && (
                  <Button
                    aria-label={`${actionOf(application)} ${application.name}`}
                    onPress={() => {
                      setChanging(application);
                    }}
                  >
                    {actionOf(application)}
                  </Button>
                ),
            })}
          />
        )}
        {list.hasNextPage && (
          <div className={page['actions']}>
            <Button isPending={list.isFetchingNextPage} onPress={() => void list.fetchNextPage()}>
              Show older applications
            </Button>
          </div>
        )}
      </section>
      {changing !== null && (
        <Change
          application={changing}
          onClose={() => {
            setChanging(null);
            void list.refetch();
          }}
        />
      )}
    </>
  );
}

function actionOf({ verified_at }: ActingApplication): string {
  return verified_at === null ? 'Verify' : 'End verification';
}

function Developer({ account_id }: ActingApplication) {
  if (account_id === null) return 'Registered itself';
  return <AccountLink accountId={account_id} />;
}

function Addresses({ of }: { of: readonly string[] }) {
  return of.map((uri) => (
    <div key={uri}>
      <bdi>{uri}</bdi>
    </div>
  ));
}

function State({ status, verified_at }: ActingApplication) {
  if (status === 'revoked') return <Badge tone="neutral">Revoked</Badge>;
  return verified_at === null ? (
    <Badge tone="neutral">Not verified</Badge>
  ) : (
    <Badge tone="good">Verified</Badge>
  );
}

type ChangeProps = { application: ActingApplication; onClose: () => void };

function Change({ application, onClose }: ChangeProps) {
  if (application.verified_at !== null) return <End application={application} onClose={onClose} />;
  if (application.account_id === null) {
    return <Verify application={application} developer={null} onClose={onClose} />;
  }
  return <VerifyOf application={application} accountId={application.account_id} onClose={onClose} />;
}

function End({ application: { application_id, name }, onClose }: ChangeProps) {
  return (
    <ConfirmByName
      title={
        <>
          End the verification of <bdi>{name}</bdi>?
        </>
      }
      name={name}
      of="application"
      action="End verification"
      asksName={false}
      isOpen
      fields={(errors) => <ReasonField errors={errors} isRequired={false} />}
      onClose={onClose}
      onConfirm={({ [REASON]: reason = '' }) => endVerification(application_id, reason)}
    >
      <p>
        People who are asked to connect it read that it is not verified. Those who have connected it stay
        connected.
      </p>
    </ConfirmByName>
  );
}

/** Of an account, whose name people read too. */
function VerifyOf({ application, accountId, onClose }: ChangeProps & { accountId: number }) {
  const account = useQuery(accountQuery(accountId));
  if (account.data === undefined) {
    return (
      <Dialog title={<TitleOf {...application} />} isOpen onClose={onClose}>
        {account.isPending && <Skeleton />}
        {account.isError && (
          <ErrorMessage error={account.error} what="the account" onRetry={() => void account.refetch()} />
        )}
      </Dialog>
    );
  }
  return <Verify application={application} developer={account.data.name} onClose={onClose} />;
}

/** Sends what it shows: an application that is different by now isn't verified. */
function Verify({ application, developer, onClose }: ChangeProps & { developer: string | null }) {
  const { application_id, name, redirect_uris } = application;
  // Loaded anew, it may change under the eyes of who reads it.
  const [shown] = useState(developer);
  return (
    <ConfirmByName
      title={<TitleOf name={name} />}
      name={name}
      of="application"
      action="Verify"
      asksName={false}
      isOpen
      fields={(errors) => <ReasonField errors={errors} isRequired />}
      onClose={onClose}
      onConfirm={({ [REASON]: reason = '' }) =>
        verify(application_id, { name, developer: shown, redirect_uris }, reason)
      }
    >
      <p>
        People who are asked to connect it read that it is verified. Say in the reason how you know who made
        it.
      </p>
      <dl className={page['facts']}>
        <dt>Made by</dt>
        <dd>{shown === null ? 'Registered itself' : <bdi>{shown}</bdi>}</dd>
        <dt>Sends people to</dt>
        <dd>
          <Addresses of={redirect_uris} />
        </dd>
      </dl>
    </ConfirmByName>
  );
}

function TitleOf({ name }: { name: string }) {
  return (
    <>
      Verify <bdi>{name}</bdi>?
    </>
  );
}
