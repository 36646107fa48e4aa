import type { Query } from '../../platform/database/query.ts';
import type { NamedWebhook } from '../../mail/mail-text.ts';

/** How a mail names a webhook; undefined where it is deleted. Keys are in an address' query or user info as a rule. */
export async function findNamedWebhook(query: Query, webhook_id: number): Promise<NamedWebhook | undefined> {
  const rows = await query<{ url: string }>('SELECT url FROM webhooks WHERE webhook_id = :webhook_id', {
    webhook_id,
  });
  const [found] = rows;
  if (found === undefined) return undefined;
  const { origin, pathname } = new URL(found.url);
  return { webhook_id, address: `${origin}${pathname}` };
}
