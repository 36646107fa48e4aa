import { Moment } from '../../../ui/moment.tsx';
import page from '../../../ui/page/page.module.css';
import type { Subscription } from '../queries.ts';

/** Says that a payment is overdue, until when calls pass, and what to do. */
export function PaymentDue({ subscription }: { subscription: Subscription }) {
  const due = subscription.payments?.due ?? null;
  if (due === null) return null;
  const isOver = subscription.status === 'blocked';
  return (
    <div className={page['card']} role="alert">
      <p>
        <strong>Your payment is overdue.</strong>{' '}
        {isOver ? (
          'API calls are refused until the open invoice is paid.'
        ) : (
          <>
            API calls work until <Moment at={due.blocks_at} />.
          </>
        )}{' '}
        Pay the open invoice under <a href="#invoices">Invoices</a>, or update your card.
      </p>
    </div>
  );
}
