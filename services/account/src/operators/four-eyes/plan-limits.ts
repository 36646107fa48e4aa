import { LIMIT_FIELDS } from '@tollgate/contracts/entitlement';
import { findPlan } from '../../billing/plans/store.ts';
import { differences } from '../../plans-as-code/differences.ts';
import { parsePlans } from '../../plans-as-code/document.ts';
import { readPlans } from '../../plans-as-code/state.ts';
import type { Query } from '../../platform/database/query.ts';

/** Whether a change lowers or removes a limit of a plan that someone has (docs/adr/0171-limits-need-two.md). */

type Attributes = Readonly<Record<string, unknown>>;

/** Of one plan. */
export async function reducesLimits(
  query: Query,
  planId: number,
  description: Attributes | undefined,
): Promise<boolean> {
  const plan = description === undefined ? undefined : await findPlan(query, planId);
  if (plan === undefined || description === undefined) return false;
  const isReduced = LIMIT_FIELDS.some((field) => isLess(plan.description[field], description[field]));
  return isReduced && areInUse(query, [planId]);
}

/** Of the plans of a file. @throws {Problem} invalid_request, as applying it does */
export async function fileReducesLimits(
  query: Query,
  { source, prune }: { source: string; prune: boolean },
): Promise<boolean> {
  const { plans } = differences(await readPlans(query), parsePlans(source), { prune });
  const reduced = plans.flatMap(({ before, fields }) =>
    before !== undefined && fields.some((each) => isLimit(each.field) && isLess(each.before, each.after))
      ? [before.plan_id]
      : [],
  );
  return reduced.length > 0 && areInUse(query, reduced);
}

const LIMITS: readonly string[] = LIMIT_FIELDS.map((field) => `description.${field}`);

const isLimit = (field: string) => LIMITS.includes(field);

/** Lower, or gone: no limit is the highest one, and still gives away what is sold. */
function isLess(before: unknown, after: unknown): boolean {
  const [was, becomes] = [before, after].map((limit) => (typeof limit === 'number' ? limit : Infinity));
  if (was === undefined || becomes === undefined) return false;
  return becomes < was || (was !== Infinity && becomes === Infinity);
}

async function areInUse(query: Query, planIds: readonly number[]): Promise<boolean> {
  const rows = await query(
    `SELECT 1 FROM plans WHERE plan_id = ANY(CAST(:planIds AS bigint[])) AND (
       EXISTS (SELECT FROM subscriptions WHERE ended_at IS NULL
         AND plans.plan_id IN (subscriptions.plan_id, subscriptions.pending_plan_id))
       OR EXISTS (SELECT FROM billing_periods
         WHERE billing_periods.plan_id = plans.plan_id AND billing_periods.ended_at >= now())) LIMIT 1`,
    { planIds: [...planIds] },
  );
  return rows.length > 0;
}
