import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Fragment, useState } from 'react';
import type { ReactNode } from 'react';
import { hasStatus } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { formatAmount } from '../../pages/plan/credits/price.ts';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import { FieldError } from '../../ui/form/field-error.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { counted, formatDuration, formatNumber } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { LOCALE } from '../../ui/locale.ts';
import { PeriodDays } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import page from '../../ui/page/page.module.css';
import type { OperatorSession } from '../api/client.ts';
import { REASON } from '../api/reason.ts';
import { AccountLink } from '../location.tsx';
import { ActOn } from './act-on.tsx';
import { Held } from './held.tsx';
import { LIMIT_FIELDS, LIMIT_LABELS, limitText, otherAttributes } from './limits.ts';
import { PlanFields, wantedPlan } from './plan-fields.tsx';
import {
  changePlan,
  planPeriodsQuery,
  planPricesQuery,
  planQuery,
  previewPlan,
  productsQuery,
  publish,
  setArchived,
  unpublish,
} from './plan-queries.ts';
import type { Plan, PlansChange, WantedPlan } from './plan-queries.ts';
import { PlanState } from './plans.tsx';
import { isWaiting } from './queries.ts';
import { ReasonField } from './reason-field.tsx';
import { Listed } from './section.tsx';

/** `/operator/plans/{plan_id}`: what a plan includes, who has it, and a change with whom it reaches. */
export function PlanPage({ planId, role }: { planId: number } & Pick<OperatorSession, 'role'>) {
  const plan = useQuery(planQuery(planId));
  if (plan.isPending) return <Skeleton />;
  if (plan.isError) {
    if (hasStatus(plan.error, 404)) return <PageHeader title="There is no such plan" />;
    return (
      <>
        <PageHeader title="Plan" />
        <ErrorMessage error={plan.error} what="the plan" onRetry={() => void plan.refetch()} />
      </>
    );
  }
  const { data } = plan;
  return (
    <>
      <PageHeader title={data.name}>
        {role === 'admin' && (
          <div className={page['actions']}>
            <Publication plan={data} />
            <Archive plan={data} />
          </div>
        )}
      </PageHeader>
      <Facts plan={data} />
      <section className={page['card']} aria-labelledby="limits">
        <h2 id="limits">Limits</h2>
        <Table
          label="Limits"
          rows={LIMIT_FIELDS}
          keyOf={(field) => field}
          columns={[
            { label: 'Limit', onCard: 'title', cell: (field) => LIMIT_LABELS[field] },
            { label: 'Included', align: 'end', cell: (field) => limitText(data.description, field) },
            { label: 'Attribute', cell: (field) => <code>{field}</code> },
          ]}
        />
        <Others plan={data} />
      </section>
      <Listed
        title="Customers"
        query={planPeriodsQuery(planId)}
        none="No account has had this plan."
        keyOf={({ period_id }) => period_id}
        columns={[
          {
            label: 'Account',
            onCard: 'title',
            cell: ({ account_id }) => <AccountLink accountId={account_id} />,
          },
          { label: 'Billing period', cell: (period) => <PeriodDays period={period} /> },
          { label: 'Points used', align: 'end', cell: ({ usage }) => formatNumber(usage.points) },
          { label: 'Status', onCard: 'status', cell: ({ status }) => status ?? 'upcoming' },
        ]}
      >
        <p className={page['muted']}>
          The newest billing periods. A period keeps the limits that it began with.
        </p>
      </Listed>
      {role === 'admin' && <ChangePlan key={JSON.stringify(data)} plan={data} />}
    </>
  );
}

function Facts({ plan }: { plan: Plan }) {
  const prices = useQuery(planPricesQuery(plan.plan_id));
  const products = useQuery(productsQuery);
  const product = products.data?.find(({ product_id }) => product_id === plan.product_id);
  return (
    <section className={page['card']} aria-label="Plan">
      <dl className={page['facts']}>
        <dt>Plan</dt>
        <dd>
          {plan.plan_id} <PlanState plan={plan} />
        </dd>
        <dt>Key</dt>
        <dd>
          <code>{plan.key}</code>
        </dd>
        <dt>Product</dt>
        <dd>{plan.product_id === null ? 'None' : <bdi>{product?.name ?? plan.product_id}</bdi>}</dd>
        <dt>Grace window</dt>
        <dd>{plan.grace_sec === 0 ? 'None' : formatDuration(plan.grace_sec)}</dd>
        <dt>Prices</dt>
        <dd>
          {prices.data === undefined || prices.data.length === 0
            ? 'None'
            : prices.data.map(priceText).join(', ')}
        </dd>
        {plan.public_position !== null && (
          <>
            <dt>Catalogue</dt>
            <dd>
              Position {plan.public_position}:{' '}
              <bdi>{[plan.price_month, plan.price_year].filter((text) => text !== null).join(', ')}</bdi>
            </dd>
          </>
        )}
      </dl>
      {plan.managed && (
        <p>
          This plan comes from a file: the next <code>tollgate apply</code> sets again what the file says of
          it. Change the file instead.
        </p>
      )}
    </section>
  );
}

type Price = { billing_interval: string; currency: string; unit_amount: number };

function priceText({ billing_interval, currency, unit_amount }: Price): string {
  const format = new Intl.NumberFormat(LOCALE, { style: 'currency', currency });
  const { maximumFractionDigits: decimals = 2 } = format.resolvedOptions();
  return `${formatAmount(unit_amount, { currency, decimals })} by the ${billing_interval}`;
}

function Others({ plan: { description } }: { plan: Plan }) {
  const others = otherAttributes(description);
  if (others.length === 0) return null;
  return (
    <dl className={page['facts']}>
      {others.map(([name, value]) => (
        <Fragment key={name}>
          <dt>
            <code>{name}</code>
          </dt>
          <dd>
            <code>{JSON.stringify(value)}</code>
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}

function Archive({ plan: { plan_id, name, archived_at } }: { plan: Plan }) {
  const isArchived = archived_at !== null;
  return (
    <ActOn
      queryKey={['plans']}
      action={isArchived ? 'Restore' : 'Archive'}
      title={isArchived ? 'Restore this plan?' : 'Archive this plan?'}
      {...(isArchived ? {} : { typed: { name, of: 'plan' } })}
      act={(reason) => setArchived(plan_id, !isArchived, reason)}
    >
      {isArchived
        ? 'It can be chosen again.'
        : 'It can’t be chosen any more. Subscriptions that have it keep and renew it.'}
    </ActOn>
  );
}

function Publication({ plan }: { plan: Plan }) {
  const { plan_id, public_position, price_month, price_year, included, archived_at } = plan;
  if (archived_at !== null) return null;
  return (
    <>
      {public_position !== null && (
        <ActOn
          queryKey={['plans']}
          action="Remove from the catalogue"
          title="Remove this plan from the catalogue?"
          act={(reason) => unpublish(plan_id, reason)}
        >
          Customers can’t choose it any more. Those who have it keep it.
        </ActOn>
      )}
      <ActOn
        queryKey={['plans']}
        action={public_position === null ? 'Publish' : 'Change catalogue entry'}
        title={public_position === null ? 'Put this plan into the catalogue?' : 'Change the catalogue entry?'}
        fields={(errors) => (
          <>
            <TextField
              label="Position"
              name="public_position"
              autoComplete="off"
              inputMode="numeric"
              description="Plans are shown in the order of these."
              defaultValue={String(public_position ?? 0)}
              error={errors['public_position']}
            />
            <TextField
              label="Price by the month, as text"
              name="price_month"
              autoComplete="off"
              description="As 49 € a month; empty: not offered by the month"
              defaultValue={price_month ?? ''}
              error={errors['price_month']}
              isRequired={false}
            />
            <TextField
              label="Price by the year, as text"
              name="price_year"
              autoComplete="off"
              defaultValue={price_year ?? ''}
              error={errors['price_year']}
              isRequired={false}
            />
            <TextField
              label="Included, separated by semicolons"
              name="included"
              autoComplete="off"
              maxLength={2_000}
              defaultValue={included.join('; ')}
              error={errors['included']}
              isRequired={false}
            />
          </>
        )}
        act={(reason, values) => publish(plan_id, publicationOf(values), reason)}
      >
        Customers see it on the page Plan.
      </ActOn>
    </>
  );
}

function publicationOf(values: Readonly<Record<string, string>>) {
  const text = (name: string) => values[name]?.trim() ?? '';
  const position = text('public_position');
  if (!/^\d{1,9}$/.test(position)) throw new FieldError('public_position', 'Enter a whole number, or 0.');
  return {
    public_position: Number(position),
    price_month: text('price_month') === '' ? null : text('price_month'),
    price_year: text('price_year') === '' ? null : text('price_year'),
    included: text('included')
      .split(';')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  };
}

type Preview = { wanted: WantedPlan; change: PlansChange | undefined };

/** The form, and what its change would do before it is done. */
function ChangePlan({ plan }: { plan: Plan }) {
  const queryClient = useQueryClient();
  const products = useQuery(productsQuery);
  const [preview, setPreview] = useState<Preview | null>(null);
  const [isHeld, setHeld] = useState(false);
  const close = () => {
    setPreview(null);
  };
  return (
    <section className={page['card']} aria-labelledby="change-plan">
      <h2 id="change-plan">Change this plan</h2>
      {isHeld && <Held />}
      {products.isError && (
        <ErrorMessage error={products.error} what="the products" onRetry={() => void products.refetch()} />
      )}
      {products.isPending && <Skeleton rows={4} />}
      {products.data !== undefined && (
        <Form
          submitLabel="Preview"
          fieldOfCode={{ name_taken: 'name' }}
          onSubmit={async (values): Promise<Preview> => {
            const wanted = wantedPlan(values, plan);
            const product = products.data.find(({ product_id }) => product_id === wanted.product_id);
            const change = await previewPlan(plan, { wanted, productKey: product?.key ?? null });
            return { wanted, change };
          }}
          onDone={setPreview}
        >
          {(errors) => <PlanFields plan={plan} products={products.data} errors={errors} />}
        </Form>
      )}
      {preview !== null && preview.change === undefined && (
        <Dialog title="Nothing is different" isOpen onClose={close}>
          <p>The plan has all of this already.</p>
          <Button onPress={close}>Close</Button>
        </Dialog>
      )}
      {preview?.change !== undefined && (
        <ConfirmByName
          title="Change this plan?"
          name={plan.name}
          of="plan"
          action="Change plan"
          isOpen
          asksName={(preview.change.affected?.subscriptions ?? 0) > 0}
          fields={(errors) => <ReasonField errors={errors} isOfCustomer={false} />}
          onClose={close}
          onConfirm={async ({ [REASON]: reason = '' }) => {
            setHeld(isWaiting(await changePlan(plan.plan_id, preview.wanted, reason)));
          }}
          onDone={() => {
            close();
            void queryClient.invalidateQueries({ queryKey: ['plans'] });
          }}
        >
          <Effect change={preview.change} />
        </ConfirmByName>
      )}
    </section>
  );
}

/** What is different, and whom it reaches. */
function Effect({ change: { fields, affected } }: { change: PlansChange }) {
  return (
    <>
      <dl className={page['facts']}>
        {fields.map(({ field, before, after, needs }) => (
          <Fragment key={field}>
            <dt>{fieldText(field)}</dt>
            <dd>
              <bdi>{valueText(before)}</bdi> → <bdi>{valueText(after)}</bdi>
              {needs === 'unlimited' && ' (not limited any more)'}
            </dd>
          </Fragment>
        ))}
      </dl>
      {affected !== null && (
        <p>
          {counted(affected.subscriptions, 'subscription')} and{' '}
          {counted(affected.unstarted_periods, 'period that hasn’t started', 'periods that haven’t started')}{' '}
          get the change. {counted(affected.current_periods, 'current period')}{' '}
          {affected.current_periods === 1 ? 'keeps what it' : 'keep what they'} began with.
          {affected.periods_over_limit > 0 &&
            ` ${counted(affected.periods_over_limit, 'current period')} used more points than the new limit.`}
          {affected.is_sign_up_plan && ' New accounts get this plan.'}
          {affected.is_in_catalogue && ' Customers can choose this plan.'}
        </p>
      )}
    </>
  );
}

/** As the form labels it, or as files of plans name it. */
function fieldText(field: string): ReactNode {
  const limit = LIMIT_FIELDS.find((each) => field === `description.${each}`);
  return limit === undefined ? <code>{field}</code> : LIMIT_LABELS[limit];
}

function valueText(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'number') return formatNumber(value);
  return typeof value === 'string' ? value : JSON.stringify(value);
}
