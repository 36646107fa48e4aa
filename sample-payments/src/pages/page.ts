import type { Invoice } from '../objects/billing.ts';
import type { CheckoutSession } from '../objects/checkout-session.ts';

const STYLE = `
:root { color-scheme: light dark; --ground: #f6f7f9; --card: #fff; --text: #16181d; --quiet: #5b6270;
  --line: #d9dde4; --strong: #1f4fd8; --on-strong: #fff; --note: #fff4d6; --on-note: #5a4300; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ground: #14161a; --card: #1d2026; --text: #eceef2; --quiet: #a3abb9;
  --line: #343a45; --strong: #8fb0ff; --on-strong: #0f1b3d; --note: #3a3115; --on-note: #f4dd97; --bad: #ff9c94; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem;
  font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground); }
main { width: min(26rem, 100%); padding: 1.5rem; border: 1px solid var(--line); border-radius: .75rem;
  background: var(--card); }
.note { margin: 0 0 1.25rem; padding: .5rem .75rem; border-radius: .5rem; background: var(--note);
  color: var(--on-note); font-size: .875rem; }
h1 { margin: 0 0 1rem; font-size: 1.25rem; }
dl { margin: 0 0 1.25rem; }
dl div { display: flex; justify-content: space-between; gap: 1rem; padding: .5rem 0;
  border-bottom: 1px solid var(--line); }
dd { margin: 0; font-variant-numeric: tabular-nums; white-space: nowrap; }
.total { font-weight: 600; }
form { display: grid; gap: .5rem; }
button, .button { font: inherit; padding: .625rem 1rem; border-radius: .5rem; border: 1px solid var(--line);
  color: var(--text); background: none; cursor: pointer; text-align: center; text-decoration: none; }
button.pay { border-color: transparent; background: var(--strong); color: var(--on-strong); font-weight: 600; }
button:focus-visible, .button:focus-visible { outline: 2px solid var(--strong); outline-offset: 2px; }
.failed { color: var(--bad); }
.quiet { color: var(--quiet); font-size: .875rem; }
`;

const NOTE = '<p class="note">Sample payment page. No money moves, and no card is needed.</p>';

export function page(title: string, body: string): string {
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)} – sample payments</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${STYLE}</style></head>
<body><main>${NOTE}<h1>${escape(title)}</h1>${body}</main></body></html>`;
}

type Line = { description: string; quantity: number; amount: number };

export function checkoutPage(
  session: CheckoutSession,
  lines: readonly Line[],
  failure: string | null,
): string {
  const rows = lines.map(
    ({ description, quantity, amount }) =>
      `<div><dt>${escape(description)}${quantity > 1 ? ` × ${String(quantity)}` : ''}</dt><dd>${money(amount, session.currency)}</dd></div>`,
  );
  const total = `<div class="total"><dt>Total</dt><dd>${money(session.amount_total, session.currency)}</dd></div>`;
  const failed = failure === null ? '' : `<p class="failed" role="alert">${escape(failure)}</p>`;
  const cancel =
    session.cancel_url === null ? '' : `<a class="button" href="${escape(session.cancel_url)}">Cancel</a>`;
  const debit =
    session.mode === 'payment'
      ? '<button name="payment_method" value="pm_sepa_debit">Pay by bank debit (settles later)</button>'
      : '';
  return page(
    'Pay',
    `<dl>${rows.join('')}${total}</dl>${failed}
<form method="post"><button class="pay" name="payment_method" value="pm_card_visa">Pay ${money(session.amount_total, session.currency)}</button>
${debit}<button name="payment_method" value="pm_card_chargeCustomerFail">Decline</button>${cancel}</form>`,
  );
}

/** An invoice as Stripe hosts it: to look at, and to pay while it is open. */
export function invoicePage(invoice: Invoice, failure: string | null): string {
  const rows = invoice.lines.data.map(
    ({ description, amount }) =>
      `<div><dt>${escape(description ?? '')}</dt><dd>${money(amount, invoice.currency)}</dd></div>`,
  );
  const total = `<div class="total"><dt>Total</dt><dd>${money(invoice.total, invoice.currency)}</dd></div>`;
  const failed = failure === null ? '' : `<p class="failed" role="alert">${escape(failure)}</p>`;
  const form =
    invoice.status === 'open'
      ? `<form method="post"><button class="pay" name="payment_method" value="pm_card_visa">Pay ${money(invoice.total, invoice.currency)}</button>
<button name="payment_method" value="pm_card_chargeCustomerFail">Decline</button></form>`
      : `<p>This invoice is ${escape(invoice.status)}.</p>`;
  return page(`Invoice ${invoice.number ?? ''}`, `<dl>${rows.join('')}${total}</dl>${failed}${form}`);
}

/** Where customers change their card: one that works, or one that is declined at the next renewal. */
export function portalPage(name: string, back: string | null): string {
  const link = back === null ? '' : `<a class="button" href="${escape(back)}">Go back</a>`;
  return page(
    'Payment details',
    `<p>${escape(name)}</p>
<p class="quiet">In the Stripe customer portal, customers manage cards, addresses and VAT numbers.</p>
<form method="post"><button class="pay" name="payment_method" value="pm_card_visa">Use a card that works</button>
<button name="payment_method" value="pm_card_chargeCustomerFail">Use a card that is declined</button>${link}</form>`,
  );
}

const FRACTION: Record<string, number> = {
  jpy: 0,
  krw: 0,
  vnd: 0,
  clp: 0,
  bhd: 3,
  jod: 3,
  kwd: 3,
  omr: 3,
  tnd: 3,
};

/** For the sample's own page only; Stripe formats by the customer's language. */
function money(amount: number, currency: string): string {
  const digits = FRACTION[currency] ?? 2;
  return `${(amount / 10 ** digits).toFixed(digits)} ${escape(currency.toUpperCase())}`;
}

export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${String(character.charCodeAt(0))};`);
}
