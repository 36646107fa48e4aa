import type { Query } from '../../platform/database/query.ts';

export type SignUpPlan = {
  /** Within the sign-up's transaction. */
  record: (query: Query, accountId: number) => Promise<void>;
  /** After it. Never throws, because the account exists; what fails is retried. */
  start: (accountId: number) => Promise<void>;
};
