import { useQuery } from '@tanstack/react-query';
import type { Finding } from '@tollgate/contracts/health-findings/finding';
import { checkReport } from '@tollgate/contracts/health-findings/report';
import { checkVersions } from '@tollgate/contracts/health-findings/versions';
import type { HealthReport } from '@tollgate/contracts/health-report';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { healthQuery } from './queries.ts';
import { ageText, uncountedUsage } from './waiting-age.ts';

/** `/operator/health`: what `tollgate doctor` finds in account's report, asked for again while the page is open. */
export function HealthPage() {
  const report = useQuery(healthQuery);
  return (
    <>
      <PageHeader title="Health" />
      {report.isPending && <Skeleton />}
      {report.isError && (
        <ErrorMessage error={report.error} what="the report" onRetry={() => void report.refetch()} />
      )}
      {report.data !== undefined && <Report report={report.data} />}
    </>
  );
}

const LABELS = { problem: 'Problem', warning: 'Warning', skipped: 'Not checked', ok: 'OK' } as const;

const TONES = { problem: 'danger', warning: 'warning', skipped: 'neutral', ok: 'good' } as const;

const ORDER = Object.keys(LABELS);

function Report({ report }: { report: HealthReport }) {
  const findings = findingsOf(report);
  const needing = findings.filter(({ status }) => status === 'problem' || status === 'warning').length;
  return (
    <>
      <section className={page['card']} aria-labelledby="findings">
        <h2 id="findings">Findings</h2>
        <p role="status">
          {needing === 0
            ? 'Nothing needs action.'
            : `${String(needing)} ${needing === 1 ? 'finding needs' : 'findings need'} action.`}{' '}
          As of <Moment at={report.reported_at} />.
        </p>
        <Table
          label="Findings"
          rows={findings}
          keyOf={({ check, finding }) => `${check}: ${finding}`}
          columns={[
            { label: 'Check', onCard: 'title', cell: ({ check }) => check },
            {
              label: 'Status',
              onCard: 'status',
              cell: ({ status }) => <Badge tone={TONES[status]}>{LABELS[status]}</Badge>,
            },
            { label: 'Finding', cell: ({ finding }) => finding },
            { label: 'What to do', cell: ({ action }) => action ?? '–' },
          ]}
        />
        <p className={page['muted']}>
          Gateways, and the certificate of the public address, are checked by{' '}
          <code>tollgate doctor --gateway-url …</code>
        </p>
      </section>
      <Facts report={report} />
    </>
  );
}

/** What needs action comes first. */
function findingsOf(report: HealthReport): Finding[] {
  const versions = checkVersions([
    ['account', report.version],
    ...(report.auth === null ? [] : [['auth', report.auth.version] as const]),
  ]);
  return [versions, ...checkReport(report)].toSorted(
    (one, other) => ORDER.indexOf(one.status) - ORDER.indexOf(other.status),
  );
}

function Facts({
  report: { version, auth, postgres, redis, usage_streams: streams },
}: {
  report: HealthReport;
}) {
  return (
    <section className={page['card']} aria-labelledby="parts">
      <h2 id="parts">Parts</h2>
      <dl className={page['facts']}>
        <dt>account</dt>
        <dd>{version}</dd>
        <dt>auth</dt>
        <dd>
          {auth === null
            ? 'Unreachable'
            : `${auth.version ?? 'Unknown'}, ${auth.is_ready ? 'ready' : 'not ready'}`}
        </dd>
        <dt>Postgres</dt>
        <dd>{postgres === null ? 'Unreachable' : postgres.version}</dd>
        <dt>Redis</dt>
        <dd>
          {redis === null
            ? 'Unreachable'
            : redis.servers
                .map(({ address, version: each }) => `${each ?? 'Unknown'} at ${address}`)
                .join(', ')}
        </dd>
        <dt>Usage not counted yet</dt>
        <dd>{streams === null ? 'Unknown' : uncountedUsage(streams.oldest_age_sec)}</dd>
        {postgres?.outboxes.map(({ table, pending, oldest_age_sec }) => (
          <Queue key={table} table={table} pending={pending} oldestAgeSec={oldest_age_sec} />
        ))}
      </dl>
    </section>
  );
}

function Queue({ table, pending, oldestAgeSec }: { table: string; pending: number; oldestAgeSec: number }) {
  return (
    <>
      <dt>
        <code>{table}</code>
      </dt>
      <dd>
        {pending === 0 ? 'Empty' : `${String(pending)} waiting, the oldest for ${ageText(oldestAgeSec)}`}
      </dd>
    </>
  );
}
