import type { Actor } from '../platform/audit/audit-log.ts';

/** No credential of a person is behind what a payment does. */
export const PAYMENTS_ACTOR: Actor = { actor: 'payments', address: 'none', request_id: 'none' };
