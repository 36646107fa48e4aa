import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import type { DialogState } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { RowMenu } from '../../ui/list/row-menu.tsx';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { CopyLine } from '../../ui/secret/secret-line.tsx';
import { domainsQuery } from './queries.ts';
import type { TeamDomain } from './queries.ts';
import { useTeamRefresh } from './use-team-change.ts';

/** The email domains of a team, for its manager. */
export function Domains() {
  const { data: domains, isPending, error, refetch } = useQuery(domainsQuery);
  const [added, setAdded] = useState(0);
  const [shown, setShown] = useState<TeamDomain>();
  const refresh = useTeamRefresh();
  return (
    <section className={styles['card']} aria-labelledby="domains">
      <h2 id="domains">Domains</h2>
      <p className={styles['muted']}>
        Prove by a DNS record that an email domain is your company’s. A domain belongs to one team at a time.
      </p>
      <Form
        // An empty form for the next one.
        key={added}
        submitLabel="Add domain"
        onSubmit={(values) =>
          resultOf(api.POST('/api/console/team/domains', { body: { domain: values['domain'] ?? '' } }))
        }
        onDone={(domain) => {
          setAdded(added + 1);
          setShown(domain);
          refresh();
        }}
      >
        {(errors) => <TextField label="Domain" name="domain" autoComplete="off" error={errors['domain']} />}
      </Form>
      {isPending && <Skeleton rows={2} />}
      {error !== null && <ErrorMessage error={error} what="your domains" onRetry={() => void refetch()} />}
      {domains !== undefined && domains.length > 0 && (
        <Table
          label="Domains"
          rows={domains}
          keyOf={({ domain_id }) => domain_id}
          columns={[
            { label: 'Domain', onCard: 'title', cell: ({ domain }) => domain },
            { label: 'Status', onCard: 'status', cell: (row) => <DomainStatus domain={row} /> },
            {
              label: 'Last checked',
              cell: ({ checked_at }) => (checked_at === null ? 'Never' : <Moment at={checked_at} />),
            },
          ]}
          actions={(domain) => (
            <RowMenu
              name={domain.domain}
              actions={[
                {
                  label: 'DNS record',
                  dialog: (state) => <DomainRecord {...state} domain={domain} />,
                },
                {
                  label: 'Remove',
                  isDangerous: true,
                  dialog: (state) => <RemoveDomain {...state} domain={domain} />,
                },
              ]}
            />
          )}
        />
      )}
      {shown !== undefined && (
        <DomainRecord
          domain={shown}
          isOpen
          onClose={() => {
            setShown(undefined);
          }}
        />
      )}
    </section>
  );
}

function DomainStatus({ domain: { status, missing_since } }: { domain: TeamDomain }) {
  if (status === 'unproven') return <Badge tone="neutral">Not verified</Badge>;
  if (status === 'proven') return <Badge tone="good">Verified</Badge>;
  return (
    <>
      <Badge tone="warning">{status === 'lapsed' ? 'Lapsed' : 'Record missing'}</Badge>{' '}
      {missing_since !== null && (
        <>
          since <Moment at={missing_since} />
        </>
      )}
    </>
  );
}

const RESULTS = {
  proven: 'The record is there. The domain is verified.',
  missing: 'The record isn’t there yet. DNS can take some hours to show a change.',
  unknown: 'DNS didn’t answer for this domain. Try again later.',
} as const;

/** The record to publish, and the check. */
function DomainRecord({ domain, isOpen, onClose }: DialogState & { domain: TeamDomain }) {
  const refresh = useTeamRefresh();
  const { domain_id, record } = domain;
  const check = useMutation({
    mutationFn: () =>
      resultOf(api.POST('/api/console/team/domains/{domain_id}/check', { params: { path: { domain_id } } })),
    onSuccess: refresh,
  });
  const found = check.data?.found ?? [];
  return (
    <Dialog title={`DNS record of ${domain.domain}`} isOpen={isOpen} onClose={onClose}>
      <p>Add this TXT record where the domain’s DNS is managed, and leave it there: it is checked daily.</p>
      <CopyLine label="Host" text={record.host} what="host" />
      <CopyLine label="Full name" text={record.name} what="full name" />
      <CopyLine label="Value" text={record.value} what="value" />
      <p role="status">{check.data !== undefined && RESULTS[check.data.result]}</p>
      {found.length > 0 && (
        <>
          <p>Found instead:</p>
          <ul>
            {found.map((value) => (
              <li key={value}>
                <code>{value}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {check.error !== null && <ErrorMessage error={check.error} />}
      <div className={styles['actions']}>
        <Button
          isPending={check.isPending}
          onPress={() => {
            check.mutate();
          }}
        >
          Check now
        </Button>
        <Button variant="quiet" onPress={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

function RemoveDomain({
  domain: { domain, domain_id },
  isOpen,
  onClose,
}: DialogState & { domain: TeamDomain }) {
  const refresh = useTeamRefresh();
  return (
    <Dialog title={`Remove ${domain}?`} isOpen={isOpen} onClose={onClose}>
      <Form
        submitLabel="Remove domain"
        onCancel={onClose}
        onSubmit={() =>
          resultOf(api.DELETE('/api/console/team/domains/{domain_id}', { params: { path: { domain_id } } }))
        }
        onDone={() => {
          onClose();
          refresh();
        }}
      >
        {() => <p>Your team keeps its members. Another team can then verify the domain.</p>}
      </Form>
    </Dialog>
  );
}
