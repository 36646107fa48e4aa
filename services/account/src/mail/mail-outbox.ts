import type { Query } from '../platform/database/query.ts';
import type { OutboxTable } from '../platform/outbox/leased-rows.ts';

/** A mail that was asked for. What it says, and to whom at all, is decided when it is sent (prepare-mail.ts). */
export type RequestedMail =
  | { kind: 'sign_up'; recipient: string; name: string; password_hash: string }
  | { kind: 'sign_up_again' | 'password_reset'; recipient: string }
  | {
      kind: 'email_change' | 'password_changed' | 'email_changed' | 'team_handed_over';
      recipient: string;
      account_id: number;
    }
  | { kind: 'team_invitation'; recipient: string; invitation_id: number }
  | { kind: 'usage_alert'; recipient: string; account_id: number; alert_id: number }
  // Null where the version before, which runs beside this one for a while, has asked for it.
  | { kind: 'webhook_disabled'; recipient: string; account_id: number; webhook_id: number | null };

/** A row of the outbox. */
export type QueuedMail = RequestedMail & {
  mail_id: number;
  created_at: Date;
  /** Failed ones. */
  attempts: number;
};

export const MAIL_OUTBOX: OutboxTable = {
  table: 'mail_outbox',
  id: 'mail_id',
  columns: `mail_id, kind, recipient, account_id, name, password_hash, invitation_id, alert_id, webhook_id,
    created_at, attempts`,
};

/** Writes that a mail is to be sent. `query` is that of the transaction which makes what the mail is about. */
export async function enqueueMail(query: Query, mail: RequestedMail): Promise<void> {
  const none = {
    account_id: null,
    name: null,
    password_hash: null,
    invitation_id: null,
    alert_id: null,
    webhook_id: null,
  };
  await query(
    `INSERT INTO mail_outbox
       (kind, recipient, account_id, name, password_hash, invitation_id, alert_id, webhook_id)
     VALUES (:kind, :recipient, :account_id, :name, :password_hash, :invitation_id, :alert_id, :webhook_id)`,
    { ...none, ...mail },
  );
}
