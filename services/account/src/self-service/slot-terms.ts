import { Problem } from '@tollgate/http/problem';
import type { Period } from '../billing/periods/period-store.ts';
import type { Plan } from '../billing/plans/store.ts';
import type { Subscription } from '../billing/subscriptions/store.ts';
import { limitsOf } from './upgrade.ts';

/**
 * All counts include the plan's own slots. `most`: what the plan sells; null if it sells none.
 * @throws {Problem} plan_not_offered, if the plan doesn't limit the team
 */
export function slotTerms(
  { team_slots_limit }: Subscription,
  last: Period | undefined,
  plan: Plan | undefined,
): { included: number; present: number; most: number | null } {
  const included = last === undefined ? null : limitsOf(last).team_slots_limit;
  if (included === null) {
    throw new Problem('plan_not_offered', { detail: 'The plan offers no additional team slots.' });
  }
  const most = plan === undefined || plan.public_position === null ? null : plan.team_slots_max;
  return { included, present: team_slots_limit ?? included, most };
}
