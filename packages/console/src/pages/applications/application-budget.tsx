import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { BudgetFields, budgetOf } from '../../ui/form/budget-fields.tsx';
import { Form } from '../../ui/form/form.tsx';
import { formatNumber } from '../../ui/format.ts';
import page from '../../ui/page/page.module.css';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { BudgetSpent } from '../../ui/usage/budget-spent.tsx';
import { applicationBudgetQuery } from './queries.ts';
import type { ApplicationBudget as Budget } from './queries.ts';

/** What the application may spend, and what it has spent. */
export function ApplicationBudget({ applicationId }: { applicationId: number }) {
  const { data, isPending, error, refetch } = useQuery(applicationBudgetQuery(applicationId));
  return (
    <section className={page['card']} aria-labelledby="budget">
      <h2 id="budget">Budget</h2>
      <p className={page['muted']}>
        Limits the points that this application can spend. When a limit is reached, its calls are refused with
        status 402 and the code <code>budget_exceeded</code>.
      </p>
      {isPending && <Skeleton rows={4} />}
      {data === undefined && !isPending && (
        <ErrorMessage error={error} what="its budget" onRetry={() => void refetch()} />
      )}
      {data !== undefined && <BudgetForm budget={data} />}
    </section>
  );
}

function BudgetForm({ budget }: { budget: Budget }) {
  const queryClient = useQueryClient();
  const [isSaved, setSaved] = useState(false);
  const { application_id, manager_points_per_period, manager_points_per_day, spent } = budget;
  const managers = {
    points_per_period: manager_points_per_period,
    points_per_day: manager_points_per_day,
  };
  const effective = {
    points_per_period: lower(budget.points_per_period, managers.points_per_period),
    points_per_day: lower(budget.points_per_day, managers.points_per_day),
  };
  return (
    <>
      <BudgetSpent budget={effective} spent={spent} />
      <ManagersLimit {...managers} />
      <Form
        submitLabel="Save budget"
        onSubmit={(values) => {
          setSaved(false);
          return resultOf(
            api.PUT('/api/console/applications/{application_id}/budget', {
              params: { path: { application_id } },
              body: budgetOf(values),
            }),
          );
        }}
        onDone={(changed) => {
          setSaved(true);
          queryClient.setQueryData(applicationBudgetQuery(application_id).queryKey, changed);
        }}
      >
        {(errors) => <BudgetFields budget={budget} errors={errors} />}
      </Form>
      <p role="status">{isSaved && 'Saved.'}</p>
    </>
  );
}

function ManagersLimit({
  points_per_period: period,
  points_per_day: day,
}: Pick<Budget, 'points_per_period' | 'points_per_day'>) {
  const parts = [
    ...(period === null ? [] : [`${formatNumber(period)} points per billing period`]),
    ...(day === null ? [] : [`${formatNumber(day)} points per day`]),
  ];
  if (parts.length === 0) return null;
  return <p>Your team’s manager limits this application to {parts.join(' and ')}. The lower limit holds.</p>;
}

function lower(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other;
  return Math.min(one, other);
}
