import type { Actor } from '../platform/audit/audit-log.ts';

/** No credential of a person is behind what a closing grants. */
export const CLOSING_ACTOR: Actor = { actor: 'closing', address: 'none', request_id: 'none' };

/** Whose idempotency keys those grants have. */
export const CLOSING_REPORTER = 'closing';
