import type { MailLimits } from './mail-limits.ts';
import type { AttemptCounts } from '../attempts/attempt-counts.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import type { PasswordHasher } from '../passwords/password-hasher.ts';
import type { SignInLimits } from '../sessions/sign-in-limits.ts';

/** What sign-up, sign-in and the changes of an account work with. */
export type PeopleParts = {
  query: Query;
  transact: Transact;
  hasher: PasswordHasher;
  counts: AttemptCounts;
  mailLimits: MailLimits;
  signInLimits: SignInLimits;
  /** Has the mail worker look into its outbox now. */
  wakeMails: () => void;
};

/** Who asks, where there is no session. */
export type Stranger = { address: string; addressGroup: string; request_id: string };
