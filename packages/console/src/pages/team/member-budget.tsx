import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { DialogState } from '../../ui/dialog.tsx';
import { BudgetFields, budgetOf } from '../../ui/form/budget-fields.tsx';
import type { BudgetFigures } from '../../ui/form/budget-fields.tsx';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { BudgetSpent } from '../../ui/usage/budget-spent.tsx';
import { memberBudgetQuery } from './queries.ts';
import type { ManagedBudget, Member } from './queries.ts';
import { useTeamRefresh } from './use-team-change.ts';

/** What a member, or one of their applications, may spend of the manager's points. */
export function MemberBudget({ member, isOpen, onClose }: DialogState & { member: Member }) {
  const title = (
    <>
      Budget of <bdi>{member.name}</bdi>
    </>
  );
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <Loaded member={member} onClose={onClose} />
    </Dialog>
  );
}

function Loaded({ member, onClose }: { member: Member; onClose: () => void }) {
  const { data, isPending, error, refetch } = useQuery(memberBudgetQuery(member.account_id));
  if (isPending) return <Skeleton rows={4} />;
  if (data === undefined)
    return <ErrorMessage error={error} what="the budget" onRetry={() => void refetch()} />;
  return <Budgets member={member} budget={data} onClose={onClose} />;
}

const ALL_CALLS = 'all';

function Budgets({
  member: { account_id },
  budget,
  onClose,
}: {
  member: Member;
  budget: ManagedBudget;
  onClose: () => void;
}) {
  const refresh = useTeamRefresh();
  const [chosen, setChosen] = useState(ALL_CALLS);
  const application = budget.applications.find(({ application_id }) => String(application_id) === chosen);
  const figures: BudgetFigures =
    application === undefined
      ? budget
      : {
          points_per_period: application.manager_points_per_period,
          points_per_day: application.manager_points_per_day,
        };
  return (
    <>
      <p>When a limit is reached, calls are refused until the next day or billing period.</p>
      {budget.applications.length > 0 && (
        <SelectField
          label="Applies to"
          name="applies_to"
          options={[
            { value: ALL_CALLS, label: 'All calls' },
            ...budget.applications.map(({ application_id, name }) => ({
              value: String(application_id),
              label: `Application ${name}`,
            })),
          ]}
          value={chosen}
          onChange={setChosen}
        />
      )}
      {application === undefined && <BudgetSpent budget={budget} spent={budget.spent} />}
      <Form
        key={chosen}
        submitLabel="Save budget"
        onCancel={onClose}
        onSubmit={(values) => put(account_id, application?.application_id, budgetOf(values))}
        onDone={() => {
          onClose();
          refresh();
        }}
      >
        {(errors) => <BudgetFields budget={figures} errors={errors} />}
      </Form>
    </>
  );
}

function put(account_id: number, application_id: number | undefined, body: BudgetFigures): Promise<unknown> {
  return application_id === undefined
    ? resultOf(
        api.PUT('/api/console/team/members/{account_id}/budget', { params: { path: { account_id } }, body }),
      )
    : resultOf(
        api.PUT('/api/console/team/applications/{application_id}/budget', {
          params: { path: { application_id } },
          body,
        }),
      );
}
