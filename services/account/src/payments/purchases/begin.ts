import { invalidFields } from '@tollgate/http/invalid-fields';
import { Problem } from '@tollgate/http/problem';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import type { Account } from '../../identity/accounts/account.ts';
import { enforcedLimits } from '../../billing/periods/limits.ts';
import { findPayerPeriods } from '../../billing/periods/payer-periods.ts';
import { pickPeriod } from '../../billing/periods/period-rules.ts';
import { requirePayer } from '../../self-service/locks.ts';
import { customerOf } from '../customers.ts';
import { withinDeadline } from '../deadline.ts';
import { pagesOf } from '../pages.ts';
import { amountFault } from '../../platform/money/currencies.ts';
import { stripePriceOf } from '../packs/stripe-price.ts';
import { lockPack } from '../packs/store.ts';
import type { Pack } from '../packs/store.ts';
import type { PaymentProvider } from '../provider.ts';
import { metadataOf } from './metadata.ts';
import { findReusable, insertPurchase, setState } from './store.ts';
import type { Purchase } from './store.ts';

const PAGES = pagesOf({ table: 'purchases', id: 'purchase_id' });

type Begun = { purchase: Purchase; pack: Pack; account: Account };

export type Buyer = {
  query: Query;
  transact: Transact;
  provider: PaymentProvider;
  /** Address of the web interface, as browsers see it. */
  publicUrl: string;
};

/**
 * Stores what is bought, then opens a page to pay it. The same pack and quantity within half an hour leads to the same
 * page, and the account's other pages are closed.
 * @throws {Problem} invalid_request for the quantity; forbidden, pack_not_offered, no_billing_period, plan_has_no_points_limit, too_many_requests,
 * payments_unavailable
 */
export async function beginPurchase(
  buyer: Buyer,
  wanted: { account_id: number; pack_id: number; quantity: number },
  by: Actor,
): Promise<Purchase> {
  const begun = await buyer.transact((query) => storePurchase(query, wanted, by));
  if (begun.purchase.session_url !== null) return begun.purchase;
  return withinDeadline(openPage(buyer, begun));
}

async function storePurchase(
  query: Query,
  { account_id, pack_id, quantity }: { account_id: number; pack_id: number; quantity: number },
  by: Actor,
): Promise<Begun> {
  const account = await lockAccount(query, account_id);
  if (account === undefined) throw new Problem('not_found');
  await requirePayer(query, account_id);
  await requireUseForPoints(query, account_id);
  const pack = await lockPack(query, pack_id, 'SHARE');
  if (pack === undefined || pack.withdrawn_at !== null) throw new Problem('pack_not_offered');
  const total = totalOf(pack, quantity);
  const open = await findReusable(query, { account_id, pack_id, quantity });
  if (open !== undefined) return { purchase: open, pack, account };
  await PAGES.refuseTooMany(query, account_id);
  const { name: pack_name, currency, expires_after_days } = pack;
  const purchase = await insertPurchase(query, {
    account_id,
    pack_id,
    pack_name,
    quantity,
    currency,
    expires_after_days,
    ...total,
  });
  const details = { purchase_id: purchase.purchase_id, pack_id, quantity };
  await recordAudit(query, { ...by, action: 'purchase_begun', application_id: null, account_id, details });
  return { purchase, pack, account };
}

/** @throws {Problem} invalid_request */
function totalOf({ points, unit_amount, currency }: Pack, quantity: number) {
  const total = { points: points * quantity, amount: unit_amount * quantity };
  if (Number.isSafeInteger(total.points) && amountFault(total.amount, currency) === undefined) return total;
  throw invalidFields([{ field: 'quantity', message: 'makes the total too large' }]);
}

/** Points are used in a period, and only where they have a limit. @throws {Problem} no_billing_period; plan_has_no_points_limit */
export async function requireUseForPoints(query: Query, accountId: number): Promise<void> {
  const found = await findPayerPeriods(query, accountId);
  const period = found === undefined ? undefined : pickPeriod(found.periods, found.now);
  if (period === undefined) throw new Problem('no_billing_period');
  if (enforcedLimits(period).points_limit === null) throw new Problem('plan_has_no_points_limit');
}

async function openPage(buyer: Buyer, { purchase, pack, account }: Begun): Promise<Purchase> {
  const { query, provider, publicUrl } = buyer;
  const { purchase_id, purchase_key, quantity } = purchase;
  const [customer_id, price_id] = await Promise.all([
    customerOf(query, provider, account),
    stripePriceOf(query, provider, pack),
  ]);
  const page = await provider.openCheckout({
    key: purchase_key,
    mode: 'payment',
    customer_id,
    price_id,
    quantity,
    success_url: `${publicUrl}/user/plan?purchase=${String(purchase_id)}`,
    cancel_url: `${publicUrl}/user/plan`,
    metadata: metadataOf(purchase),
  });
  await PAGES.setPage(query, purchase_id, page);
  // One that stays open costs nothing: if it is paid all the same, its points are granted.
  await PAGES.closeOthers(buyer, { accountId: purchase.account_id, id: purchase_id }, (id) =>
    setState(query, id, 'expired'),
  );
  return { ...purchase, session_id: page.session_id, session_url: page.url };
}
