import type { MailLimits } from '../attempts/mail-limits.ts';
import type { Query } from '../../platform/database/query.ts';
import type { SessionParts } from '../sessions/operations.ts';

export type SignUpPlan = {
  /** Within the sign-up's transaction. */
  record: (query: Query, accountId: number) => Promise<void>;
  /** After it. Never throws, because the account exists; what fails is retried. */
  start: (accountId: number) => Promise<void>;
};

export type PeopleParts = SessionParts & {
  mailLimits: MailLimits;
  wakeMails: () => void;
  /** Null without SIGN_UP_PLAN. */
  signUpPlan: SignUpPlan | null;
};
