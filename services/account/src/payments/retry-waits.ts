import type { RetryWaits } from '../platform/outbox/repeated.ts';

/** Of what waits for Stripe. */
export const RETRY_WAITS: RetryWaits = { first: 1_000, max: 600_000 };
