import type { Ledger } from './ledgers.ts';

/** What moved to or from a grant: from one of its ledger accounts to another. */
export type Movement = {
  movement_id: number;
  credit_id: number;
  account_id: number;
  from_ledger: Ledger;
  to_ledger: Ledger;
  points: number;
  reason: string;
  corrects_movement_id: number | null;
  period_id: number | null;
  at: Date;
  actor: string;
  purchase_id: number | null;
  stripe_id: string | null;
  created_at: Date;
};
