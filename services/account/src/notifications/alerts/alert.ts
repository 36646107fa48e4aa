import type { LimitedPeriod } from '../../billing/periods/limits.ts';
import type { Passed } from './rules.ts';

/** What is counted for a period that is looked at, and who pays for it. */
export type CheckedPeriod = LimitedPeriod & {
  period_id: number;
  account_id: number;
  plan_name: string;
  started_at: Date;
  ended_at: Date;
  /** Null where mail to the account is not known to reach its owner. */
  email: string | null;
  points: number;
  time_ms: number;
  traffic_bytes: number;
  /** Who is in the payer's team or invited; 0 without a team, and in a period that is not the present one. */
  slots_taken: number;
};

export type Alert = Passed & {
  alert_id: number;
  /** When it was noticed, in the limit's unit, as the limit. */
  used: number;
  limit_value: number;
  created_at: Date;
};
