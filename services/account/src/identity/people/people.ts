import type { Query } from '../../platform/database/query.ts';

/** What a new account gets. */
type SignUpOffer = {
  plan_name: string;
  /** Null: unlimited. */
  points_limit: number | null;
  /** Null: a monthly subscription. */
  days: number | null;
};

export type SignUpPlan = {
  /** Null while the plan of SIGN_UP_PLAN doesn't exist. */
  offer: (query: Query) => Promise<SignUpOffer | null>;
  /** Within the sign-up's transaction. */
  record: (query: Query, accountId: number) => Promise<void>;
  /** After it. Never throws, because the account exists; what fails is retried. */
  start: (accountId: number) => Promise<void>;
};
