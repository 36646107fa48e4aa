import type { MailContent, MailSite } from '../../mail/layout/mail-content.ts';
import type { MailRenderers } from '../../mail/mail-renderer.ts';
import type { Query } from '../../platform/database/query.ts';

export type WebhookMail = {
  kind: 'webhook_disabled';
  recipient: string;
  account_id: number;
  webhook_id: number;
};

export const webhookMails: MailRenderers<WebhookMail> = {
  webhook_disabled: async (query, { recipient, webhook_id }, site) => {
    const webhook = await findNamedWebhook(query, webhook_id);
    return webhook === undefined ? undefined : webhookDisabledMail(recipient, site, webhook);
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

function webhookDisabledMail(to: string, site: MailSite, webhook: NamedWebhook): MailContent {
  const { publicUrl, productName } = site;
  return {
    to,
    subject: 'A webhook was disabled',
    lines: [
      `A webhook of your ${productName} account was disabled because its server returned 410 Gone or has failed for days. It no longer receives alerts.`,
      'See each delivery attempt and what your server responded. Once the server works, enable the webhook again.',
    ],
    facts: [
      ['Webhook', String(webhook.webhook_id)],
      ['Address', webhook.address],
    ],
    action: { label: 'View webhooks', href: `${publicUrl}/user/webhooks` },
    closing: [{ label: 'API reference for webhooks', href: `${publicUrl}/api/docs#/Webhooks` }],
  };
}
