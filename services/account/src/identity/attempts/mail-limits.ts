import { refuseExceeded } from './attempt-counts.ts';
import type { AttemptCounts } from './attempt-counts.ts';

export type MailLimits = { windowSec: number; perRecipient: number; perAddress: number };

export type MailPurpose = 'sign_up' | 'password_reset' | 'email_change' | 'team_invitation';

/**
 * Counts a request that has a mail sent, whoever is or isn't behind the recipient. A recipient's own count is
 * per purpose: a stranger's sign-ups with an address must not use up its owner's password resets.
 *
 * @throws {Problem} too_many_requests
 */
export async function countMailRequest(
  counts: AttemptCounts,
  { windowSec, perRecipient, perAddress }: MailLimits,
  { purpose, recipient, address }: { purpose: MailPurpose; recipient: string; address: string },
): Promise<void> {
  refuseExceeded(
    await counts.take([
      { subject: `mail address ${address}`, max: perAddress, windowSec },
      { subject: `mail ${purpose} ${recipient.toLowerCase()}`, max: perRecipient, windowSec },
    ]),
  );
}
