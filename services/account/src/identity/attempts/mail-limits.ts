import { refuseExceeded } from './attempt-counts.ts';
import type { AttemptCounts } from './attempt-counts.ts';

export type MailLimits = { windowSec: number; perRecipient: number; perAddress: number; perAccount: number };

/** What a mail takes that anyone may request. */
export type RequestedMails = { counts: AttemptCounts; mailLimits: MailLimits; wakeMails: () => void };

export type MailPurpose = 'sign_up' | 'password_reset' | 'email_change' | 'team_invitation';

/**
 * Counts a request for a mail, whether or not the recipient has an account. Recipients are counted per purpose, so that
 * a stranger's sign-ups with an address don't use up its owner's password resets. A signed-in account is counted too: it
 * may call from any number of addresses. @throws {Problem} too_many_requests
 */
export async function countMailRequest(
  counts: AttemptCounts,
  { windowSec, perRecipient, perAddress, perAccount }: MailLimits,
  {
    purpose,
    recipient,
    address,
    accountId,
  }: { purpose: MailPurpose; recipient: string; address: string; accountId: number | null },
): Promise<void> {
  refuseExceeded(
    await counts.take([
      { subject: `mail address ${address}`, max: perAddress, windowSec },
      { subject: `mail ${purpose} ${recipient.toLowerCase()}`, max: perRecipient, windowSec },
      ...(accountId === null
        ? []
        : [{ subject: `mail account ${String(accountId)}`, max: perAccount, windowSec }]),
    ]),
  );
}
