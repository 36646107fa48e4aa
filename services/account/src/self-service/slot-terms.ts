import { Problem } from '@tollgate/http/problem';
import type { Period } from '../billing/periods/period-store.ts';
import type { Plan } from '../billing/plans/store.ts';
import type { Subscription } from '../billing/subscriptions/store.ts';
import { limitsOf } from './upgrade.ts';
import type { Described } from './upgrade.ts';

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

/**
 * Slots that are charged are what a team has beyond its plan's own. Since the team's limit goes along, some would be free
 * under a plan that includes fewer.
 * @throws {Problem} plan_not_offered
 */
export function refuseFewerIncluded(present: Described, wanted: Described): void {
  const [before, after] = [limitsOf(present).team_slots_limit, limitsOf(wanted).team_slots_limit];
  if (after === null || (before !== null && after >= before)) return;
  throw new Problem('plan_not_offered', {
    detail: 'The plan includes fewer team slots than yours. Release your additional ones first.',
  });
}
