import type { Page } from '../http/input/page.ts';
import type { Query } from '../platform/database/query.ts';

/** What became of a mail: `outdated` was no longer needed when its turn came. */
const MAIL_OUTCOMES = ['sent', 'given_up', 'outdated'] as const;

export type MailOutcome = (typeof MAIL_OUTCOMES)[number];

export const MAIL_STATES = ['waiting', ...MAIL_OUTCOMES] as const;

export type AccountMail = {
  mail_id: number;
  kind: string;
  state: (typeof MAIL_STATES)[number];
  requested_at: Date;
  /** Null while it waits. */
  ended_at: Date | null;
};

type Owner = { account_id: number; email: string };

const SUBJECT = 'kind, recipient, name, invitation_id, alert_id, credit_id, budget_alert_id, webhook_id';

/**
 * Takes a mail from the outbox, and keeps that it was sent to a customer. One statement, so that a crash leaves it in the
 * outbox. Without Postgres too: it becomes due again when its lease ends.
 */
export async function endMail(query: Query, mailId: number, outcome: MailOutcome): Promise<void> {
  await query(
    `WITH ended AS (DELETE FROM mail_outbox WHERE mail_id = :mailId RETURNING *)
     INSERT INTO sent_mails (mail_id, account_id, ${SUBJECT}, outcome, requested_at)
     SELECT ended.mail_id, accounts.account_id, ended.kind, recipient, ended.name, invitation_id, alert_id, credit_id,
       budget_alert_id, webhook_id, :outcome, ended.created_at
     FROM ended JOIN accounts ON accounts.erased_at IS NULL AND accounts.account_id = coalesce(ended.account_id,
       (SELECT account_id FROM accounts WHERE lower(email) = lower(ended.recipient)))
     ON CONFLICT (mail_id) DO NOTHING`,
    { mailId, outcome },
  ).catch(() => undefined);
}

/** To the account's present address, newest first. */
export function listMails(
  query: Query,
  { account_id, email }: Owner,
  { limit, before }: Page,
): Promise<AccountMail[]> {
  return query<AccountMail>(
    `SELECT mail_id, kind, 'waiting' AS state, created_at AS requested_at, NULL::timestamptz AS ended_at
     FROM mail_outbox WHERE mail_id < :before AND lower(recipient) = lower(:email)
     UNION ALL
     SELECT mail_id, kind, outcome, requested_at, ended_at
     FROM sent_mails WHERE mail_id < :before AND account_id = :account_id AND lower(recipient) = lower(:email)
     ORDER BY mail_id DESC LIMIT :limit`,
    { account_id, email, limit, before },
  );
}

/** All that is kept of an account's, also to former addresses. */
export function listSentMails(
  query: Query,
  accountId: number,
): Promise<{ mail_id: number; kind: string; recipient: string; outcome: MailOutcome; ended_at: Date }[]> {
  return query(
    `SELECT mail_id, kind, recipient, outcome, ended_at FROM sent_mails
     WHERE account_id = :accountId ORDER BY mail_id DESC`,
    { accountId },
  );
}

/**
 * Puts a mail to the account's present address into the outbox again: text and links are made anew when it is sent.
 * Undefined if there is none, or what it was about is gone.
 */
export async function repeatMail(
  query: Query,
  { account_id, email, mail_id, request_id }: Owner & { mail_id: number; request_id: string },
): Promise<AccountMail | undefined> {
  const rows = await query<AccountMail>(
    `INSERT INTO mail_outbox (account_id, ${SUBJECT}, request_id)
     SELECT account_id, ${SUBJECT}, :request_id FROM sent_mails
     WHERE mail_id = :mail_id AND account_id = :account_id AND lower(recipient) = lower(:email)
       AND (invitation_id IS NULL OR EXISTS (
         SELECT FROM team_invitations WHERE team_invitations.invitation_id = sent_mails.invitation_id))
       AND (alert_id IS NULL OR EXISTS (
         SELECT FROM usage_alerts WHERE usage_alerts.alert_id = sent_mails.alert_id))
     RETURNING mail_id, kind, 'waiting' AS state, created_at AS requested_at, NULL::timestamptz AS ended_at`,
    { account_id, email, mail_id, request_id },
  );
  return rows[0];
}
