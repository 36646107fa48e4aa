import { NO_LEASE } from '../../ledger/leases.ts';
import type { Lease } from '../../ledger/leases.ts';
import type { PayerEntitlement } from '../../ledger/principal.ts';
import type { Admit } from './admit.ts';

/**
 * Reserves points of a payer whose points are strict, for a part of what was admitted: it takes no slot, and no unit of
 * the rate. The operation has `held` points reserved already.
 * @throws {Problem} (the promise) as Admit
 */
export type ReservePoints = (payer: PayerEntitlement, points: number, held: number) => Promise<Lease>;

export function createReservePoints(admit: Admit): ReservePoints {
  return async (payer, points, held) => {
    if (!payer.reservesPoints || points === 0) return NO_LEASE;
    const limits = { ...payer.limits, rate_limit: null, subscription_limit: null };
    const { lease } = await admit({ ...payer, limits }, 'subscription', 1, points, held);
    return lease;
  };
}
