import { enqueueMail } from '../../mail/mail-outbox.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query } from '../../platform/database/query.ts';
import { singleRow } from '../../platform/database/single-row.ts';
import type { AlertMail } from './alert-mail.ts';

/** Queues the mail; returns its recipient. The audit entry is also what the list of recent alerts shows of a test. */
export async function sendAlertTest(query: Query, account_id: number, actor: Actor): Promise<string> {
  const rows = await query<{ email: string }>('SELECT email FROM accounts WHERE account_id = :account_id', {
    account_id,
  });
  const { email } = singleRow(rows);
  const mail: AlertMail = { kind: 'alert_test', recipient: email, account_id };
  await enqueueMail(query, mail);
  await recordAudit(query, {
    ...actor,
    action: 'alert_tested',
    account_id,
    application_id: null,
    details: {},
  });
  return email;
}
