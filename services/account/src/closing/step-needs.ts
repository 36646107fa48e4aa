import type { LockInstant } from '../billing/credits/changes.ts';
import type { OveruseMode } from '../billing/credits/settlement.ts';

/** What steps of closing need besides the database. */
export type StepNeeds = {
  lockInstant: LockInstant;
  /** CREDITS_OVERUSE */
  overuse: OveruseMode;
};

/** What movements of one step have in common; `at` is the instant that they are dated at. */
export type Step = {
  account_id: number;
  at: Date;
  reason: 'usage' | 'period_closed' | 'usage_corrected';
  overuse: OveruseMode;
};
