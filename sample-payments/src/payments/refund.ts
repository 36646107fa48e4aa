import { emit } from '../double.ts';
import type { Double } from '../double.ts';
import { invalid } from '../http/failure.ts';
import { newRefund } from '../objects/payments.ts';
import type { Charge, Refund } from '../objects/payments.ts';

/** `amount` null is all that is left. @throws {Failure} if more would be refunded than was paid */
export function refund(
  double: Double,
  charge: Charge,
  wanted: {
    amount?: number | undefined;
    reason?: string | undefined;
    metadata?: Record<string, string> | undefined;
  },
): Refund {
  const { store, clock } = double;
  const left = charge.amount_captured - charge.amount_refunded;
  if (left === 0) {
    throw invalid(`Charge ${charge.id} has already been refunded.`, { code: 'charge_already_refunded' });
  }
  const amount = wanted.amount ?? left;
  if (amount > left) {
    const detail = `Refund amount (${String(amount)}) is greater than unrefunded amount on charge (${String(left)})`;
    throw invalid(detail, { param: 'amount' });
  }
  const made = store.add(newRefund({ ...wanted, created: clock.now(), charge, amount }));
  const amount_refunded = charge.amount_refunded;
  charge.amount_refunded += amount;
  charge.refunded = charge.amount_refunded === charge.amount;
  emit(double, 'refund.created', made);
  emit(double, 'charge.refunded', charge, { amount_refunded });
  return made;
}

/** A bank sends the money back days later, and the charge counts as paid again. */
export function failRefund(double: Double, made: Refund): Refund {
  const { store } = double;
  const charge = store.get('charge', made.charge);
  made.status = 'failed';
  made.failure_reason = 'lost_or_stolen_card';
  charge.amount_refunded -= made.amount;
  charge.refunded = false;
  emit(double, 'refund.failed', made);
  emit(double, 'refund.updated', made);
  return made;
}
