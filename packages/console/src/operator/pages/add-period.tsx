import { useQuery, useQueryClient } from '@tanstack/react-query';
import { serverNowMs } from '../../api/server-clock.ts';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import { REASON } from '../api/reason.ts';
import { instantOf, nextPeriod } from './next-period.ts';
import { addPeriod, periodsQuery, plansQuery } from './queries.ts';
import type { AccountSummary } from './queries.ts';
import { ReasonField } from './reason-field.tsx';

/** Extends an account without a subscription: the next period, with the plan of the last one unless another is chosen. */
export function AddPeriod({ account: { account_id, subscription_id } }: { account: AccountSummary }) {
  const queryClient = useQueryClient();
  const periods = useQuery(periodsQuery(account_id));
  const plans = useQuery(plansQuery);
  const error = periods.error ?? plans.error;
  return (
    <section className={page['card']} aria-labelledby="add-period">
      <h2 id="add-period">Add a billing period</h2>
      {subscription_id !== null && (
        <p className={page['muted']}>
          Subscription {subscription_id} opens the next period by itself. Cancel it first to add one here.
        </p>
      )}
      {subscription_id === null && error !== null && <ErrorMessage error={error} what="the plans" />}
      {subscription_id === null && error === null && (periods.isPending || plans.isPending) && (
        <Skeleton rows={3} />
      )}
      {subscription_id === null && periods.data !== undefined && plans.data !== undefined && (
        <Fields
          // After each one, the next.
          key={periods.data[0]?.period_id}
          account_id={account_id}
          periods={periods.data}
          plans={plans.data}
          onAdded={() => void queryClient.invalidateQueries({ queryKey: ['account', account_id] })}
        />
      )}
    </section>
  );
}

type FieldsProps = {
  account_id: number;
  periods: readonly { plan_id: number; ended_at: string }[];
  plans: readonly { plan_id: number; name: string }[];
  onAdded: () => void;
};

function Fields({ account_id, periods, plans, onAdded }: FieldsProps) {
  const { from, to } = nextPeriod(periods, serverNowMs());
  const options = plans.map(({ plan_id, name }) => ({ value: String(plan_id), label: name }));
  const last = options.find(({ value }) => value === String(periods[0]?.plan_id));
  return (
    <Form
      submitLabel="Add period"
      fieldOfCode={{ periods_overlap: 'started_at' }}
      onSubmit={({ plan_id, started_at = '', ended_at = '', [REASON]: reason = '' }) =>
        addPeriod(
          {
            account_id,
            plan_id: Number(plan_id),
            started_at: instantOf(started_at, false),
            ended_at: instantOf(ended_at, true),
          },
          reason,
        )
      }
      onDone={onAdded}
    >
      {(errors) => (
        <>
          <SelectField
            label="Plan"
            name="plan_id"
            options={options}
            defaultValue={last?.value ?? options[0]?.value ?? ''}
          />
          <TextField
            label="From"
            name="started_at"
            autoComplete="off"
            description="As 2026-07-01 or 2026-07-01T12:00:00Z, in UTC"
            defaultValue={from}
            error={errors['started_at']}
          />
          <TextField
            label="To"
            name="ended_at"
            autoComplete="off"
            description="The last day is part of it."
            defaultValue={to}
            error={errors['ended_at']}
          />
          <ReasonField errors={errors} />
        </>
      )}
    </Form>
  );
}
