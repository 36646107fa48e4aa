import type { ServerResponse } from 'node:http';
import type { Double } from '../double.ts';
import { Failure } from '../http/failure.ts';
import type { Form } from '../http/form.ts';
import { paySession } from '../payments/checkout.ts';
import { methodOf } from '../payments/confirm.ts';
import { pay } from '../payments/invoices.ts';
import { useCard } from '../payments/subscriptions.ts';
import { checkoutPage, escape, invoicePage, page, portalPage } from './page.ts';

type Request = { method: string; path: string; form: Form };

/** The pages that Stripe would host. */
export function servePage(double: Double, { method, path, form }: Request, res: ServerResponse): void {
  const [, kind, id = ''] = path.split('/');
  try {
    if (kind === 'pay') serveCheckout(double, id, method === 'POST' ? form : null, res);
    else if (kind === 'portal') servePortal(double, id, method === 'POST' ? form : null, res);
    else if (kind === 'invoice') serveInvoice(double, id, method === 'POST' ? form : null, res);
    else html(res, 404, page('Not found', '<p>There is nothing at this address.</p>'));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    html(res, error.status, page('Not found', `<p>${escape(error.message)}</p>`));
  }
}

function serveCheckout(double: Double, id: string, form: Form | null, res: ServerResponse): void {
  const session = double.store.get('checkout.session', id);
  const lines = double.store.terms[id]?.lines ?? [];
  let failure: string | null = null;
  if (form !== null && session.status === 'open') {
    try {
      paySession(double, session, methodIn(form));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error.message;
    }
  }
  if (session.status === 'complete') {
    res.writeHead(303, { location: session.success_url.replaceAll('{CHECKOUT_SESSION_ID}', id) });
    res.end();
  } else if (session.status === 'expired') {
    html(res, 410, page('Expired', '<p>This payment page has expired. Go back and start again.</p>'));
  } else html(res, 200, checkoutPage(session, lines, failure));
}

function serveInvoice(double: Double, id: string, form: Form | null, res: ServerResponse): void {
  const invoice = double.store.get('invoice', id);
  let failure: string | null = null;
  if (form !== null && invoice.status === 'open') {
    try {
      pay(double, invoice, methodOf(double, methodIn(form)));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      failure = error.message;
    }
  }
  html(res, 200, invoicePage(invoice, failure));
}

function servePortal(double: Double, id: string, form: Form | null, res: ServerResponse): void {
  const { return_url, customer } = double.store.get('billing_portal.session', id);
  const { email, name } = double.store.get('customer', customer);
  if (form !== null) useCard(double, customer, methodOf(double, methodIn(form)));
  html(res, 200, portalPage(name ?? email ?? customer, return_url));
}

function methodIn(form: Form): string {
  const method = form['payment_method'];
  return typeof method === 'string' ? method : 'pm_card_visa';
}

function html(res: ServerResponse, status: number, text: string): void {
  res.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    'cache-control': 'no-store',
  });
  res.end(text);
}
