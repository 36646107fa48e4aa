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
import { withinDeadline } from '../deadline.ts';
import { amountFault } from '../money/currencies.ts';
import { lockPack, setPrice } from '../packs/store.ts';
import type { Pack } from '../packs/store.ts';
import type { PaymentProvider } from '../provider.ts';
import { metadataOf } from './metadata.ts';
import {
  countRecent,
  findCustomer,
  findReusable,
  insertCustomer,
  insertPurchase,
  listOtherPages,
  setPage,
  setState,
} from './store.ts';
import type { Purchase } from './store.ts';

/** New pages of an account in an hour; the open one of the same pack isn't new. */
const MAX_PER_HOUR = 10;

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
  if ((await countRecent(query, account_id)) >= MAX_PER_HOUR) {
    throw new Problem('too_many_requests', { headers: { 'retry-after': '3600' } });
  }
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

/** Points are used in a period, and only where they have a limit. */
async function requireUseForPoints(query: Query, accountId: number): Promise<void> {
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
    priceOf(query, provider, pack),
  ]);
  const page = await provider.openCheckout({
    key: purchase_key,
    customer_id,
    price_id,
    quantity,
    success_url: `${publicUrl}/user/plan?purchase=${String(purchase_id)}`,
    cancel_url: `${publicUrl}/user/plan`,
    metadata: metadataOf(purchase),
  });
  await setPage(query, purchase_id, page);
  await closeOtherPages(buyer, purchase);
  return { ...purchase, session_id: page.session_id, session_url: page.url };
}

/** A page that stays open costs nothing: if it is paid all the same, its points are granted. */
async function closeOtherPages({ query, provider }: Buyer, purchase: Purchase): Promise<void> {
  const others = await listOtherPages(query, purchase);
  await Promise.allSettled(
    others.map(async ({ purchase_id, session_id }) => {
      if (await provider.expireCheckout(session_id)) await setState(query, purchase_id, 'expired');
    }),
  );
}

async function customerOf(query: Query, provider: PaymentProvider, account: Account): Promise<string> {
  const { account_id, email, name } = account;
  const known = await findCustomer(query, account_id);
  if (known !== undefined) return known;
  const made = await provider.createCustomer({ account_id, email, name });
  await insertCustomer(query, account_id, made);
  return (await findCustomer(query, account_id)) ?? made;
}

async function priceOf(query: Query, provider: PaymentProvider, pack: Pack): Promise<string> {
  if (pack.stripe_price_id !== null) return pack.stripe_price_id;
  const { pack_id, name, currency, unit_amount, tax_behavior } = pack;
  // A restored database can give an id again: what it is sold for is a part of the key.
  const lookup_key = `tollgate-pack-${String(pack_id)}-${currency}-${String(unit_amount)}-${tax_behavior}`;
  const priceId = await provider.ensurePrice({ lookup_key, name, currency, unit_amount, tax_behavior });
  await setPrice(query, pack_id, priceId);
  return priceId;
}
