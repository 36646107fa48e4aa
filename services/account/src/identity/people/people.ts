import type { MailLimits } from '../attempts/mail-limits.ts';
import type { SessionParts } from '../sessions/endpoints.ts';

/** What sign-up and the changes of an account need beyond what sign-in does. */
export type PeopleParts = SessionParts & {
  mailLimits: MailLimits;
  /** Makes the mail worker read its outbox now. */
  wakeMails: () => void;
};
