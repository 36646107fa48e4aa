import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { hasStatus } from '../../api/client.ts';
import { CheckboxField } from '../../ui/form/checkbox-field.tsx';
import { FieldError } from '../../ui/form/field-error.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { counted, formatNumber } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { ExactMoment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import type { OperatorSession } from '../api/client.ts';
import { REASON } from '../api/reason.ts';
import { ActOn } from './act-on.tsx';
import { healthQuery } from './queries.ts';
import { ReasonField } from './reason-field.tsx';
import { Listed } from './section.tsx';
import {
  checkUsage,
  countUnassigned,
  gapsQuery,
  rebuildUsage,
  reconcilePayments,
  repairUsage,
  unassignedQuery,
} from './usage-queries.ts';
import type { Reconciliation, UsageCheck, UsageRepair } from './usage-queries.ts';
import { uncountedUsage } from './waiting-age.ts';

type Role = OperatorSession['role'];

/** `/operator/usage`: what wasn't counted, or not where it belongs, and its repair. */
export function UsagePage({ role }: { role: Role }) {
  const isAdmin = role === 'admin';
  return (
    <>
      <PageHeader title="Usage" />
      <Streams />
      <Gaps />
      <UnassignedUsage isAdmin={isAdmin} />
      <Check isAdmin={isAdmin} />
      {isAdmin && <Repair />}
      {(isAdmin || role === 'finance') && <Reconcile />}
    </>
  );
}

function Streams() {
  const report = useQuery(healthQuery);
  const streams = report.data?.usage_streams;
  return (
    <section className={page['card']} aria-labelledby="streams">
      <h2 id="streams">Streams</h2>
      {report.isPending && <Skeleton rows={2} />}
      {report.isError && (
        <ErrorMessage error={report.error} what="the report" onRetry={() => void report.refetch()} />
      )}
      {streams === null && <p>Redis or Postgres can’t be reached, so nothing is known of the streams.</p>}
      {streams !== undefined && streams !== null && (
        <dl className={page['facts']}>
          <dt>Not counted yet</dt>
          <dd>{uncountedUsage(streams.oldest_age_sec)}</dd>
          <dt>Behind their counted position</dt>
          <dd>{streams.behind.length === 0 ? 'None' : streams.behind.join(', ')}</dd>
          <dt>Gaps of the last 30 days</dt>
          <dd>{formatNumber(streams.gaps_of_30_days)}</dd>
        </dl>
      )}
    </section>
  );
}

const CAUSES = {
  batches_missing: 'Batches of a gateway are missing',
  redis_set_back: 'Redis was restored',
  postgres_set_back: 'Postgres was restored',
} as const;

function Gaps() {
  return (
    <Listed
      title="Gaps"
      query={gapsQuery}
      none="No gap was found in the reported usage."
      keyOf={({ gap_id }) => gap_id}
      columns={[
        { label: 'Seen', onCard: 'title', cell: ({ seen_at }) => <ExactMoment at={seen_at} /> },
        { label: 'Cause', cell: ({ cause }) => CAUSES[cause] },
        {
          label: 'Stream',
          cell: ({ stream, gateway_id }) => (
            <code>{gateway_id === null ? stream : `${stream}, ${gateway_id}`}</code>
          ),
        },
        { label: 'Requests', align: 'end', cell: ({ requests }) => knownText(requests) },
        { label: 'Points', align: 'end', cell: ({ points }) => knownText(points) },
        {
          label: 'Recovered',
          cell: ({ recovered }) => (recovered === null ? '–' : counted(recovered.points, 'point')),
        },
      ]}
    />
  );
}

function knownText(value: number | null): string {
  return value === null ? 'Unknown' : formatNumber(value);
}

function UnassignedUsage({ isAdmin }: { isAdmin: boolean }) {
  return (
    <Listed
      title="Unassigned usage"
      query={unassignedQuery}
      none="All usage belongs to a billing period."
      keyOf={({ unassigned_id }) => unassigned_id}
      columns={[
        { label: 'Recorded', onCard: 'title', cell: ({ recorded_at }) => <ExactMoment at={recorded_at} /> },
        { label: 'Why', cell: ({ explanation }) => explanation },
        { label: 'Calls', align: 'end', cell: ({ events }) => knownText(events?.length ?? null) },
        {
          label: 'Status',
          onCard: 'status',
          cell: ({ counted_at, counted_period_id }) =>
            counted_at === null ? (
              <Badge tone="warning">Not counted</Badge>
            ) : (
              <Badge tone="good">
                {counted_period_id === null ? 'Counted' : `Counted in period ${String(counted_period_id)}`}
              </Badge>
            ),
        },
      ]}
      actions={isAdmin ? (row) => <Count row={row} /> : undefined}
    />
  );
}

type Countable = { unassigned_id: number; counted_at: string | null; events: readonly unknown[] | null };

function Count({ row: { unassigned_id, counted_at, events } }: { row: Countable }) {
  if (counted_at !== null || events === null) return null;
  return (
    <ActOn
      queryKey={['usage']}
      action="Count"
      row={`unassigned usage ${String(unassigned_id)}`}
      title="Count this usage?"
      fields={(errors) => (
        <TextField
          label="Billing period"
          name="period_id"
          autoComplete="off"
          inputMode="numeric"
          description="Empty: that of the event if it is the payer’s, else the one at its time"
          error={errors['period_id']}
          isRequired={false}
        />
      )}
      act={(reason, { period_id = '' }) => countUnassigned(unassigned_id, idOf(period_id), reason)}
    >
      The customer’s figures, limits and invoices include it within a second. It is counted once.
    </ActOn>
  );
}

/** @throws {FieldError} */
function idOf(text: string): number | undefined {
  const digits = text.trim();
  if (digits === '') return undefined;
  if (/^[1-9]\d{0,14}$/.test(digits)) return Number(digits);
  throw new FieldError('period_id', 'Enter the ID of a billing period.');
}

function Check({ isAdmin }: { isAdmin: boolean }) {
  const [found, setFound] = useState<UsageCheck | null>(null);
  return (
    <section className={page['card']} aria-labelledby="check">
      <h2 id="check">Compare totals</h2>
      <p className={page['muted']}>
        The totals of billing periods with the sums of their hours. They differ only if something else has
        written to the tables.
      </p>
      <Form
        submitLabel="Compare"
        onSubmit={({ period_id = '' }) => checkUsage(idOf(period_id))}
        onDone={setFound}
      >
        {(errors) => (
          <TextField
            label="Billing period"
            name="period_id"
            autoComplete="off"
            inputMode="numeric"
            description="Empty: the 100 newest"
            error={errors['period_id']}
            isRequired={false}
          />
        )}
      </Form>
      {found !== null && (
        <>
          <p role="status">
            {counted(found.checked, 'billing period')} compared, {found.differences.length} different.
            {found.beyond_retention > 0 &&
              ` ${counted(found.beyond_retention, 'period')} can’t be compared: the hours were dropped.`}
          </p>
          {found.differences.length > 0 && (
            <Table
              label="Differences"
              rows={found.differences}
              keyOf={({ period_id }) => period_id}
              columns={[
                { label: 'Billing period', onCard: 'title', cell: ({ period_id }) => period_id },
                { label: 'Points', align: 'end', cell: ({ totals }) => formatNumber(totals.points) },
                {
                  label: 'Points by the hour',
                  align: 'end',
                  cell: ({ hourly }) => formatNumber(hourly.points),
                },
              ]}
              actions={
                isAdmin
                  ? ({ period_id }) => (
                      <ActOn
                        queryKey={['usage']}
                        action="Rebuild"
                        row={`billing period ${String(period_id)}`}
                        title="Set the totals to the sums?"
                        act={async (reason) => {
                          await rebuildUsage(period_id, reason);
                          setFound({
                            ...found,
                            differences: found.differences.filter((other) => other.period_id !== period_id),
                          });
                        }}
                      >
                        Live counters follow within a second.
                      </ActOn>
                    )
                  : undefined
              }
            />
          )}
        </>
      )}
    </section>
  );
}

function Repair() {
  const queryClient = useQueryClient();
  const [repaired, setRepaired] = useState<UsageRepair | null>(null);
  return (
    <section className={page['card']} aria-labelledby="repair">
      <h2 id="repair">After a restore</h2>
      <p className={page['muted']}>
        Brings the counters in Postgres and Redis together. Safe to repeat, and without effect if nothing was
        restored.
      </p>
      <Form
        submitLabel="Repair"
        isDangerous
        onSubmit={({ restored, [REASON]: reason = '' }) => repairUsage(restored !== undefined, reason)}
        onDone={(result) => {
          setRepaired(result);
          void queryClient.invalidateQueries({ queryKey: ['usage'] });
        }}
      >
        {(errors) => (
          <>
            <CheckboxField
              label="Postgres was restored from a backup"
              name="restored"
              defaultChecked={false}
              description="Then IDs that were given after the backup aren’t given again."
            />
            <ReasonField errors={errors} isOfCustomer={false} />
          </>
        )}
      </Form>
      {repaired !== null && (
        <p role="status">
          {counted(repaired.checked_streams, 'stream')} checked,{' '}
          {counted(repaired.repaired_periods, 'billing period')} repaired,{' '}
          {counted(repaired.recovered.points, 'point')} recovered.
        </p>
      )}
    </section>
  );
}

function Reconcile() {
  const [found, setFound] = useState<Reconciliation | null>(null);
  return (
    <section className={page['card']} aria-labelledby="reconcile">
      <h2 id="reconcile">Reconcile payments</h2>
      <p className={page['muted']}>
        Compares the last day with Stripe, and applies what was missed. Runs every hour by itself.
      </p>
      <Form
        submitLabel="Compare with Stripe"
        onSubmit={async ({ applies, [REASON]: reason = '' }) => {
          try {
            return await reconcilePayments(applies === undefined, reason);
          } catch (error) {
            // So that it reads as what it is: nothing is wrong.
            if (hasStatus(error, 404)) throw new FieldError(REASON, 'Payments are not enabled.');
            throw error;
          }
        }}
        onDone={setFound}
      >
        {(errors) => (
          <>
            <CheckboxField
              label="Apply what is different"
              name="applies"
              defaultChecked={false}
              description="Without it, the differences are only listed."
            />
            <ReasonField errors={errors} isOfCustomer={false} />
          </>
        )}
      </Form>
      {found !== null && (
        <>
          <p role="status">
            {counted(found.checked, 'object')} read at Stripe, {found.differences.length} different,{' '}
            {found.failed} failed.
            {!found.is_complete && ' Stripe could not be read to the end: repeat it.'}
          </p>
          {found.differences.length > 0 && (
            <ul>
              {found.differences.map(({ object_id, change }) => (
                <li key={`${object_id} ${change}`}>
                  <code>{object_id}</code>: {change}
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </section>
  );
}
