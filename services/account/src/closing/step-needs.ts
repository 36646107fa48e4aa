import type { LockInstant } from '../billing/credits/changes.ts';
import type { OveruseMode } from '../billing/credits/settlement.ts';

/** What steps of closing need besides the database. */
export type StepNeeds = {
  lockInstant: LockInstant;
  /** CREDITS_OVERUSE */
  overuse: OveruseMode;
};
