import type { LimitedPeriod } from '../../billing/periods/limits.ts';
import type { Passed } from './rules.ts';

export type CheckedPeriod = Required<LimitedPeriod> & {
  period_id: number;
  account_id: number;
  plan_name: string;
  started_at: Date;
  ended_at: Date;
  /** Null if the account's email address isn't verified. */
  email: string | null;
  points: number;
  time_ms: number;
  traffic_bytes: number;
  /** Members and invitations of the payer's team; 0 without a team or outside the current period. */
  slots_taken: number;
};

export type Alert = Passed & {
  alert_id: number;
  /** In the limit's unit, when the alert was created. */
  used: number;
  limit_value: number;
  created_at: Date;
};
