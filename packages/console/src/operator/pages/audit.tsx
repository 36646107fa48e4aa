import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { Fragment } from 'react';
import type { ReactNode } from 'react';
import { AUDIT_ACTIONS } from '@tollgate/contracts/audit-actions';
import { Button } from '../../ui/button.tsx';
import { FieldError } from '../../ui/form/field-error.ts';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Table } from '../../ui/list/table.tsx';
import { ExactMoment } from '../../ui/moment.tsx';
import { DownloadButton } from '../../ui/page/download-button.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { AccountLink, navigate, useAddress } from '../location.tsx';
import { addressOf, filtersAt, filtersFrom } from './audit-filters.ts';
import type { AuditFilters } from './audit-filters.ts';
import { auditLogQuery, exportAudit } from './queries.ts';
import type { AuditEntry } from './queries.ts';

/** `/operator/audit`: every change, by anyone; filters are in the address. */
export function AuditPage() {
  const filters = filtersAt(useAddress());
  const log = useInfiniteQuery(auditLogQuery(filters));
  const entries = log.data?.pages.flatMap((one) => one.entries) ?? [];
  return (
    <>
      <PageHeader title="Audit log">
        <div className={page['actions']}>
          <DownloadButton load={() => exportAudit(filters, 'csv')} />
          <DownloadButton load={() => exportAudit(filters, 'ndjson')} label="Download NDJSON" />
        </div>
      </PageHeader>
      <Filters key={addressOf(filters)} filters={filters} />
      <section className={page['card']} aria-labelledby="changes">
        <h2 id="changes">Changes</h2>
        {log.isPending && <Skeleton />}
        {log.isError && (
          <ErrorMessage error={log.error} what="the audit log" onRetry={() => void log.refetch()} />
        )}
        {log.data !== undefined && entries.length === 0 && (
          <p className={page['muted']}>No change has all of this.</p>
        )}
        {entries.length > 0 && <AuditTable entries={entries} isOfOneAccount={false} />}
        {log.hasNextPage && (
          <div className={page['actions']}>
            <Button isPending={log.isFetchingNextPage} onPress={() => void log.fetchNextPage()}>
              Show older changes
            </Button>
          </div>
        )}
      </section>
    </>
  );
}

const ACTIONS = [
  { value: '', label: 'Any' },
  ...AUDIT_ACTIONS.map((value) => ({ value, label: wordsOf(value) })).toSorted((one, other) =>
    one.label.localeCompare(other.label),
  ),
];

function Filters({ filters }: { filters: AuditFilters }) {
  const queryClient = useQueryClient();
  return (
    <section className={page['card']} aria-label="Filters">
      <Form
        submitLabel="Filter"
        onSubmit={async (values) => {
          const wanted = filtersFrom(values);
          if (values['account_id']?.trim() !== '' && wanted.account_id === undefined) {
            throw new FieldError('account_id', 'This is not an account ID.');
          }
          // What the API finds wrong stands at its field.
          await queryClient.infiniteQuery(auditLogQuery(wanted));
          return wanted;
        }}
        onDone={(wanted) => {
          navigate(addressOf(wanted));
        }}
      >
        {(errors) => (
          <>
            <SelectField label="Action" name="action" options={ACTIONS} defaultValue={filters.action ?? ''} />
            <TextField
              label="By"
              name="actor"
              autoComplete="off"
              description="As operator:person/3, operator:billing or account:7"
              defaultValue={filters.actor ?? ''}
              error={errors['actor']}
              isRequired={false}
            />
            <TextField
              label="Account ID"
              name="account_id"
              autoComplete="off"
              inputMode="numeric"
              defaultValue={filters.account_id === undefined ? '' : String(filters.account_id)}
              error={errors['account_id']}
              isRequired={false}
            />
            <TextField
              label="From"
              name="from"
              autoComplete="off"
              description="As 2026-07-01 or 2026-07-01T12:00:00Z, in UTC"
              defaultValue={filters.from ?? ''}
              error={errors['from']}
              isRequired={false}
            />
            <TextField
              label="To"
              name="to"
              autoComplete="off"
              description="A date includes its whole day."
              defaultValue={filters.to ?? ''}
              error={errors['to']}
              isRequired={false}
            />
          </>
        )}
      </Form>
    </section>
  );
}

function wordsOf(action: string): string {
  return action.replaceAll('_', ' ');
}

export function AuditTable({
  entries,
  isOfOneAccount,
}: {
  entries: readonly AuditEntry[];
  /** Its page needs no link to itself. */
  isOfOneAccount: boolean;
}) {
  return (
    <Table
      label="Changes"
      rows={entries}
      keyOf={({ audit_id }) => audit_id}
      columns={[
        { label: 'When', onCard: 'title', cell: ({ at }) => <ExactMoment at={at} /> },
        { label: 'Action', cell: ({ action }) => wordsOf(action) },
        { label: 'By', cell: ({ actor, details }) => <By actor={actor} details={details} /> },
        { label: 'Reason', cell: ({ details }) => <bdi>{reasonOf(details) ?? '–'}</bdi> },
        { label: 'IP address', cell: ({ address }) => address ?? '–' },
        ...(isOfOneAccount
          ? []
          : [
              {
                label: 'Account',
                cell: ({ account_id }: AuditEntry) =>
                  account_id === null ? '–' : <AccountLink accountId={account_id}>{account_id}</AccountLink>,
              },
            ]),
      ]}
      detail={(entry) => changedFields(entry)}
    />
  );
}

/** What was changed, field by field. Undefined where an entry states none. */
function changedFields({ before, after }: AuditEntry): ReactNode {
  const names = Object.keys(after ?? before ?? {});
  if (names.length === 0) return undefined;
  return (
    <details>
      <summary>
        {verbOf({ before, after })}: {names.join(', ')}
      </summary>
      <dl className={page['facts']}>
        {names.map((name) => (
          <Fragment key={name}>
            <dt>
              <code>{name}</code>
            </dt>
            <dd>
              {before !== null && <bdi>{textOf(before[name])}</bdi>}
              {before !== null && after !== null && ' → '}
              {after !== null && <bdi>{textOf(after[name])}</bdi>}
            </dd>
          </Fragment>
        ))}
      </dl>
    </details>
  );
}

function verbOf({ before, after }: Pick<AuditEntry, 'before' | 'after'>): string {
  if (before === null) return 'Created';
  return after === null ? 'Deleted' : 'Changed';
}

/** As it is stated: a number may be an ID. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** What an operator gave as the reason. */
function reasonOf({ operator_reason: reason }: AuditEntry['details']): string | undefined {
  return typeof reason === 'string' ? reason : undefined;
}

/** Of an operator who is a person, the name, which the entry keeps. */
function By({ actor, details }: Pick<AuditEntry, 'actor' | 'details'>) {
  const person = details['operator'];
  const name = typeof person === 'object' && person !== null && 'name' in person ? String(person.name) : null;
  return (
    <>
      {name !== null && (
        <>
          <bdi>{name}</bdi>,{' '}
        </>
      )}
      <code>{actor}</code>
    </>
  );
}
