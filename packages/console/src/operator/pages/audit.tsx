import { ExactMoment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { OperatorLink } from '../location.tsx';
import { auditQuery } from './queries.ts';
import { Listed } from './section.tsx';

/** `/operator/audit`: the latest changes, by anyone. */
export function AuditPage() {
  return (
    <>
      <PageHeader title="Audit log" />
      <AuditList title="Latest changes" accountId={undefined} />
    </>
  );
}

export function AuditList({ title, accountId }: { title: string; accountId: number | undefined }) {
  return (
    <Listed
      title={title}
      query={auditQuery(accountId)}
      none="Nothing was changed."
      keyOf={({ audit_id }) => audit_id}
      columns={[
        { label: 'When', onCard: 'title', cell: ({ at }) => <ExactMoment at={at} /> },
        { label: 'Action', cell: ({ action }) => action.replaceAll('_', ' ') },
        { label: 'By', cell: ({ actor, details }) => <By actor={actor} details={details} /> },
        { label: 'Reason', cell: ({ details }) => <bdi>{reasonOf(details) ?? '–'}</bdi> },
        { label: 'IP address', cell: ({ address }) => address ?? '–' },
        {
          label: 'Account',
          cell: ({ account_id }) =>
            account_id === null || accountId !== undefined ? (
              (account_id ?? '–')
            ) : (
              <OperatorLink to={`/accounts/${String(account_id)}`}>{account_id}</OperatorLink>
            ),
        },
      ]}
    />
  );
}

/** What an operator gave as the reason. */
function reasonOf({ operator_reason: reason }: Readonly<Record<string, unknown>>): string | undefined {
  return typeof reason === 'string' ? reason : undefined;
}

/** Of an operator who is a person, the name, which the entry keeps. */
function By({ actor, details }: { actor: string; details: Readonly<Record<string, unknown>> }) {
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
