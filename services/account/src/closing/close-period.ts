import { demandOf } from '../billing/credits/settlement.ts';
import type { Query } from '../platform/database/query.ts';
import { giveBack, hasEnded, takeGrowth } from './settle.ts';
import type { Step, StepNeeds } from './step-needs.ts';
import {
  hasPendingCut,
  insertCarryOver,
  lockAccountIfFree,
  lockLiveGrants,
  lockPeriod,
  saveClosed,
  takeCorrections,
} from './store.ts';
import type { Grant, PeriodToSettle } from './store.ts';

type Account = { account_id: number; period_id: number };

/**
 * Settles all that a period has used, and closes it. False if it is closed, if a cut is to be resolved before, or if the
 * account is locked.
 */
export async function closePeriod(
  query: Query,
  { account_id, period_id }: Account,
  countedUntil: Date,
  { overuse }: Pick<StepNeeds, 'overuse'>,
): Promise<boolean> {
  if (!(await lockIfReady(query, account_id, countedUntil))) return false;
  const period = await lockPeriod(query, period_id, 'open');
  if (period === undefined) return false;
  const step: Step = { account_id, at: period.ends_at, reason: 'period_closed', overuse };
  const usable = (grant: Grant) => grant.usable_from <= countedUntil && !hasEnded(grant, countedUntil);
  await settle(query, step, period, usable, countedUntil);
  return true;
}

/**
 * Settles a change of a closed period's points (docs/design/credits.md): more is taken from what is left of the grants
 * that were usable in it. False as for closePeriod, or if another replica has done it.
 */
export async function correctPeriod(
  query: Query,
  { account_id, period_id }: Account,
  countedUntil: Date,
  { overuse }: Pick<StepNeeds, 'overuse'>,
): Promise<boolean> {
  if (!(await lockIfReady(query, account_id, countedUntil))) return false;
  if (!(await takeCorrections(query, period_id))) return false;
  const period = await lockPeriod(query, period_id, 'closed');
  if (period === undefined) return true;
  const step: Step = { account_id, at: countedUntil, reason: 'usage_corrected', overuse };
  const usable = (grant: Grant) => grant.usable_from < period.ends_at && !hasEnded(grant, countedUntil);
  await settle(query, step, period, usable, countedUntil);
  return true;
}

/** False if another transaction has locked the account, or if a cut is to be resolved before. */
async function lockIfReady(query: Query, accountId: number, countedUntil: Date): Promise<boolean> {
  return (
    (await lockAccountIfFree(query, accountId)) && !(await hasPendingCut(query, accountId, countedUntil))
  );
}

/** Most periods need neither: their payers have no grants. */
async function settle(
  query: Query,
  step: Step,
  period: PeriodToSettle,
  isUsable: (grant: Grant) => boolean,
  endedBy: Date,
): Promise<void> {
  if (period.rollover_max !== null) await insertCarryOver(query, step.account_id, period.period_id);
  const demand = demandOf(period);
  if (demand < period.settled_points) await saveClosed(query, await giveBack(query, step, period, endedBy));
  else if (demand === period.settled_points) await saveClosed(query, period);
  else {
    const usable = (await lockLiveGrants(query, step.account_id)).filter(isUsable);
    const [grown = period] = await takeGrowth(query, step, [period], usable);
    await saveClosed(query, grown);
  }
}
