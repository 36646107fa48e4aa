import type { MailRenderers } from '../../mail/mail-renderer.ts';
import { renderMail } from '../../mail/render-mail.ts';
import type { Mail } from '../../mail/render-mail.ts';
import type { Query } from '../../platform/database/query.ts';

export type WebhookMail = {
  kind: 'webhook_disabled';
  recipient: string;
  account_id: number;
  /** Null in rows of the previous version, which may still be running. */
  webhook_id: number | null;
};

export const webhookMails: MailRenderers<WebhookMail> = {
  webhook_disabled: async (query, { recipient, webhook_id }, publicUrl) => {
    const reference = `${publicUrl}/api/docs#/Webhooks`;
    if (webhook_id === null) return webhookDisabledMail(recipient, reference);
    const webhook = await findNamedWebhook(query, webhook_id);
    return webhook === undefined ? undefined : webhookDisabledMail(recipient, reference, webhook);
  },
};

type NamedWebhook = { webhook_id: number; address: string };

/** Undefined if deleted. Leaves out query and user info, which often contain keys. */
async function findNamedWebhook(query: Query, webhook_id: number): Promise<NamedWebhook | undefined> {
  const rows = await query<{ url: string }>('SELECT url FROM webhooks WHERE webhook_id = :webhook_id', {
    webhook_id,
  });
  const [found] = rows;
  if (found === undefined) return undefined;
  const { origin, pathname } = new URL(found.url);
  return { webhook_id, address: `${origin}${pathname}` };
}

function webhookDisabledMail(to: string, link: string, webhook?: NamedWebhook): Mail {
  const { name, path } =
    webhook === undefined
      ? { name: 'A webhook', path: '/api/console/webhooks/{webhook_id}' }
      : {
          name: `Webhook ${String(webhook.webhook_id)} (${webhook.address})`,
          path: `/api/console/webhooks/${String(webhook.webhook_id)}`,
        };
  return renderMail(to, {
    subject: 'A webhook was disabled',
    lines: [
      `${name} of your Tollgate account was disabled because its server returned 410 Gone or has failed for days. It no longer receives alerts.`,
      `To see each delivery attempt, call GET ${path}/deliveries. Once the server works, call PATCH ${path} with {"enabled":true}. The API reference describes both calls, and you can try them there while you are signed in:`,
    ],
    link,
  });
}
