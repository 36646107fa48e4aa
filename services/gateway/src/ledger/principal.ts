import type { ActiveToken } from '@tollgate/contracts/introspection';
import type { CallRules, Limits } from '@tollgate/contracts/entitlement';
import type { CallerBudgets } from './budgets.ts';
import type { PayerCredits } from './credits.ts';
import type { DocumentLimit } from '../operation-reader/application-documents.ts';

/** Whose billing period a call is held to and charged to. Calls that are held to the same budgets share one object. */
export type PayerEntitlement = {
  payerId: number;
  periodId: number;
  /** Whose stream takes the payer's usage. */
  lane: number;
  billingStatus: 'active' | 'grace';
  /** The period's last second, ISO 8601. */
  endedAt: string;
  /** Of that period, so that a team shares them. Null isn't enforced, 0 allows none. */
  limits: Limits;
  /** If not null, these are enforced instead of `points_limit`. */
  credits: PayerCredits | null;
  /** Of the caller's account and application. */
  budgets: CallerBudgets | null;
  /** What the plan says of single calls; null if nothing. */
  callRules: CallRules | null;
  /** Whether points are strict, and something limits them: calls reserve their estimates (docs/design/admission.md). */
  reservesPoints: boolean;
  /** Where the payer can buy points; null without payments. */
  buyUrl: string | null;
  /** The documents that the caller's application is limited to; null if it may run any. */
  documentLimit: DocumentLimit | null;
};

/** What a call is made and charged with: its active access token, and the payer entitlement of the token's account. */
export type Principal = { token: ActiveToken; payer: PayerEntitlement };
