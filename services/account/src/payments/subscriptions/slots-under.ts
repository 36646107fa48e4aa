import { addOnUnder } from '../../billing/subscriptions/changes.ts';
import type { Plan } from '../../billing/plans/store.ts';
import { limitsOf } from '../../self-service/upgrade.ts';

/** How many of the slots that Stripe charges are still additional ones under another plan. */
export function slotsUnder(plan: Plan, team_slots_limit: number | null, charged: number): number {
  const kept = addOnUnder(plan, team_slots_limit);
  const included = limitsOf(plan).team_slots_limit;
  return kept === null || included === null ? 0 : Math.min(charged, kept - included);
}
