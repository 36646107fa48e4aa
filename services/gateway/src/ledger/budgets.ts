import type { Budget, Budgets } from '@tollgate/contracts/entitlement';
import { liveBudgetField } from '@tollgate/contracts/usage-stream';
import type { BudgetKind, UsageEvent } from '@tollgate/contracts/usage-stream';

/** A UTC day. */
export const DAY_MS = 86_400_000;

/** What names a budget's owner, in usage events and in requests for usage snapshots. */
export const BUDGET_OWNERS = {
  member: 'account_id',
  application: 'application_id',
} as const satisfies Record<BudgetKind, keyof UsageEvent>;

type CallerBudget = Budget & {
  kind: BudgetKind;
  /** Of the account, or of the application. */
  id: number;
};

/** How much of the payer's points a caller may use. One object while the entitlement is kept. */
export type CallerBudgets = {
  /** In the order in which they are checked. */
  all: readonly CallerBudget[];
  /** The argument of scripts that contain LUA_BUDGET_LEFT. */
  argument: string;
};

/** A budget that is used up, as a script has found it. */
export type ReachedBudget = {
  kind: BudgetKind;
  window: 'period' | 'day';
  limit: number;
  /** By Redis' clock: a day's budget is that of this moment's day. */
  nowMs: number;
};

/** Null if nothing limits the caller. */
export function callerBudgets(
  { member, applications = [] }: Budgets,
  { accountId, applicationId }: { accountId: number; applicationId: number | null },
): CallerBudgets | null {
  const application = applications.find(({ application_id }) => application_id === applicationId);
  const all: CallerBudget[] = [];
  if (member !== undefined) all.push({ kind: 'member', id: accountId, ...member });
  if (application !== undefined)
    all.push({ kind: 'application', id: application.application_id, ...application });
  const limiting = all.filter(
    (budget) => budget.points_per_period !== null || budget.points_per_day !== null,
  );
  return limiting.length === 0 ? null : { all: limiting, argument: limiting.map(argumentOf).join('\n') };
}

/** A line: field, points of the period, points of the day; -1 isn't limited. */
function argumentOf({ kind, id, points_per_period, points_per_day }: CallerBudget): string {
  return `${liveBudgetField(kind, id)} ${String(points_per_period ?? -1)} ${String(points_per_day ?? -1)}`;
}

/** `reached` and `nowMs` as LUA_BUDGET_LEFT returns them. */
export function reachedBudget(
  { all }: CallerBudgets,
  { reached, nowMs }: { reached: number; nowMs: number },
): ReachedBudget | null {
  const budget = all[Math.ceil(reached / 2) - 1];
  if (budget === undefined) return null;
  const isPeriods = reached % 2 === 1;
  return {
    kind: budget.kind,
    window: isPeriods ? 'period' : 'day',
    limit: (isPeriods ? budget.points_per_period : budget.points_per_day) ?? 0,
    nowMs,
  };
}
