import type { ReactNode } from 'react';

/** Where the invoice of a change is paid that the card didn't pay. `children`: what starts then. */
export function UnpaidChange({ paymentUrl, children }: { paymentUrl: string; children: ReactNode }) {
  return (
    <div role="alert">
      <p>
        <strong>The payment needs you.</strong> Your card was declined, or your bank asks you to confirm the
        payment. Nothing has changed yet: {children} once you have paid the invoice.
      </p>
      <p>
        <a href={paymentUrl}>Pay the invoice</a>
      </p>
    </div>
  );
}
