import type { Query } from '../platform/database/query.ts';
import type { OutboxTable } from '../platform/outbox/leased-rows.ts';

type MailSubject = {
  account_id: number;
  name: string;
  invitation_id: number;
  alert_id: number;
  credit_id: number;
  budget_alert_id: number;
  webhook_id: number;
  /** Who asked for the mail; null for kinds that don't record it. */
  request_address: string | null;
  request_id: string | null;
};

/** Each domain narrows the kinds. Text and recipient are decided when the mail is sent (mail-renderer.ts). */
export type RequestedMail = { kind: string; recipient: string } & Partial<MailSubject>;

export type QueuedMail = RequestedMail & {
  mail_id: number;
  created_at: Date;
  /** Failed attempts. */
  attempts: number;
};

export const MAIL_OUTBOX: OutboxTable = {
  table: 'mail_outbox',
  id: 'mail_id',
  columns: `mail_id, kind, recipient, account_id, name, invitation_id, alert_id, credit_id,
    budget_alert_id, webhook_id, request_address, request_id, created_at, attempts`,
};

/** `query` belongs to the transaction of the change that the mail reports. */
export async function enqueueMail(query: Query, mail: RequestedMail): Promise<void> {
  const none = {
    account_id: null,
    name: null,
    invitation_id: null,
    alert_id: null,
    credit_id: null,
    budget_alert_id: null,
    webhook_id: null,
    request_address: null,
    request_id: null,
  };
  await query(
    `INSERT INTO mail_outbox
       (kind, recipient, account_id, name, invitation_id, alert_id, credit_id, budget_alert_id, webhook_id,
        request_address, request_id)
     VALUES (:kind, :recipient, :account_id, :name, :invitation_id, :alert_id, :credit_id, :budget_alert_id,
        :webhook_id, :request_address, :request_id)`,
    { ...none, ...mail },
  );
}
