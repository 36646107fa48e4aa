import type { MailLimits } from '../attempts/mail-limits.ts';
import type { SessionParts } from '../sessions/endpoints.ts';

export type PeopleParts = SessionParts & {
  mailLimits: MailLimits;
  wakeMails: () => void;
};
