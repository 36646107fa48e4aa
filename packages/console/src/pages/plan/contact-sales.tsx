import type { Subscription } from './queries.ts';

/** How to do what is not self-service. */
export function ContactSales({ subscription, to }: { subscription: Subscription; to: string }) {
  const { contact_sales_url: url } = subscription.self_service;
  return (
    <p>
      {url === null ? 'Contact sales' : <a href={url}>Contact sales</a>} {to}.
    </p>
  );
}
