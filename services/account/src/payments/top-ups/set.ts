import { invalidFields } from '@tollgate/http/invalid-fields';
import { Problem } from '@tollgate/http/problem';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { requirePayer } from '../../self-service/locks.ts';
import { paymentMethodOf } from '../customers.ts';
import { withinDeadline } from '../deadline.ts';
import type { OffSessionProvider } from '../off-session-provider.ts';
import { lockPack } from '../packs/store.ts';
import { requireUseForPoints } from '../purchases/begin.ts';
import type { TaxMode } from '../settings.ts';
import { applyPaymentOfTopUp } from './apply.ts';
import type { TopUpNeeds } from './apply.ts';
import { isTaxMissing } from './rules.ts';
import { cancelOpen, findDeclinedMethod, findPending, lockSettings, saveChoice, switchOff } from './store.ts';
import type { TopUpChoice } from './store.ts';

/** Pauses that end once what was missing is there. */
const FOR_WANT = new Set(['no_payment_method', 'pack_withdrawn']);

export type SetNeeds = TopUpNeeds & {
  transact: Transact;
  tax: TaxMode;
  provider: TopUpNeeds['provider'] & Pick<OffSessionProvider, 'findPaymentMethod'>;
};

/**
 * Switches top-ups on, or changes what they buy.
 * @throws {Problem} not_found; forbidden; no_billing_period; plan_has_no_points_limit; pack_not_offered; invalid_request
 * for the amount; no_payment_method; payments_unavailable
 */
export async function setTopUp(
  { query, transact, provider, tax }: SetNeeds,
  accountId: number,
  choice: TopUpChoice,
  by: Actor,
): Promise<void> {
  const method = await paymentMethodOf(query, provider, accountId);
  await transact(async (inside) => {
    if ((await lockAccount(inside, accountId)) === undefined) throw new Problem('not_found');
    await requirePayer(inside, accountId);
    await requireUseForPoints(inside, accountId);
    const before = await lockSettings(inside, accountId);
    const pack = await lockPack(inside, choice.pack_id, 'SHARE');
    if (pack === undefined || pack.withdrawn_at !== null) throw new Problem('pack_not_offered');
    if (isTaxMissing(pack, tax)) {
      throw invalidFields([
        { field: 'pack_id', message: 'is sold plus tax, which a top-up does not charge' },
      ]);
    }
    if (choice.max_amount < pack.unit_amount) {
      throw invalidFields([{ field: 'max_amount', message: 'must be at least the price of the pack' }]);
    }
    if (method === undefined) throw new Problem('no_payment_method');
    const isOther = method !== (await findDeclinedMethod(inside, accountId));
    const isWaiting = before !== undefined && FOR_WANT.has(before.paused_for ?? '');
    // Nothing can be charged for it yet, and it was wanted by the choice before.
    await cancelOpen(inside, accountId);
    await saveChoice(inside, accountId, { ...choice, is_on: true, isResumed: isOther || isWaiting });
    await audit(inside, accountId, by, { is_on: true, ...choice });
  });
}

/**
 * Nothing is charged any more when this returns, but what was confirmed at the provider before, whose points are granted.
 * @throws {Problem} payments_unavailable: it is off, and the payment that is under way could not be canceled
 */
export async function stopTopUp(
  needs: Pick<SetNeeds, 'transact'> & TopUpNeeds,
  accountId: number,
  by: Actor,
): Promise<void> {
  const pending = await needs.transact(async (inside) => {
    await lockAccount(inside, accountId);
    await lockSettings(inside, accountId);
    await stopTopUps(inside, accountId, by);
    return findPending(inside, accountId);
  });
  // Its confirmation may be under way.
  if (pending?.state !== 'confirming' || pending.payment_id === null) return;
  const payment = await withinDeadline(needs.provider.cancelPayment(pending.payment_id));
  await needs.transact(await applyPaymentOfTopUp(needs, payment));
}

/** The account is locked; `query` is a transaction's. A payment that is being confirmed is canceled by the worker. */
export async function stopTopUps(query: Query, accountId: number, by: Actor): Promise<void> {
  await cancelOpen(query, accountId);
  if (await switchOff(query, accountId)) await audit(query, accountId, by, { is_on: false });
}

async function audit(
  query: Query,
  account_id: number,
  by: Actor,
  details: Record<string, unknown>,
): Promise<void> {
  await recordAudit(query, { ...by, action: 'top_up_set', application_id: null, account_id, details });
}
