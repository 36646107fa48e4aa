import type { Pack } from '../packs/store.ts';
import type { TaxMode } from '../settings.ts';

/** Stored with the settings: why top-ups are on and nothing is tried. Declines by the code of the bank. */
type PauseReason = string;

const HOUR_MS = 3_600_000;

/** After the first, second and third decline in a row. */
const BACKOFF_MS = [HOUR_MS, 3 * HOUR_MS, 7 * HOUR_MS];

const MAX_DECLINES = BACKOFF_MS.length;

/** Declines that another attempt by the same card can't change (docs.stripe.com/declines/codes). */
const FINAL_CODES = new Set(['authentication_required', 'fraudulent', 'lost_card', 'stolen_card']);

export type AfterDecline = {
  declines: number;
  /** Null: tried again once `backoffMs` have passed. */
  paused_for: PauseReason | null;
  backoffMs: number;
};

/** What follows from a decline after so many in a row. */
export function afterDecline(declinesBefore: number, code: string | null): AfterDecline {
  const declines = declinesBefore + 1;
  const isFinal = code !== null && FINAL_CODES.has(code);
  const paused_for = isFinal ? code : declines >= MAX_DECLINES ? 'declined' : null;
  return { declines, paused_for, backoffMs: BACKOFF_MS[Math.min(declines, MAX_DECLINES) - 1] ?? 0 };
}

/** A mail at the first decline, and when it pauses. */
export function isToldByMail({ declines, paused_for }: AfterDecline): boolean {
  return declines === 1 || paused_for !== null;
}

/** Stripe computes the tax of invoices and pages, and a top-up has neither. */
export function isTaxMissing({ tax_behavior }: Pick<Pack, 'tax_behavior'>, tax: TaxMode): boolean {
  return tax === 'automatic' && tax_behavior === 'exclusive';
}

type Spent = { times: number; amount: number };

/** Whether a month's limits have room for one more. */
export function hasRoom(
  limits: { max_times: number; max_amount: number },
  { times, amount }: Spent,
  price: number,
): boolean {
  return times < limits.max_times && amount + price <= limits.max_amount;
}
