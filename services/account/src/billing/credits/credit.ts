import type { CreditSource } from './allocation.ts';

export const CREDIT_STATUSES = ['scheduled', 'active', 'used', 'expired', 'voiding', 'void'] as const;

export type CreditStatus = (typeof CREDIT_STATUSES)[number];

/** A grant of points. */
export type Credit = {
  credit_id: number;
  account_id: number;
  points: number;
  /** By the last settlement. */
  points_remaining: number;
  source: CreditSource;
  /** 0 to 100, lower first. */
  priority: number;
  /** Whole seconds. */
  effective_at: Date;
  /** Exactly from when, in the second of effective_at. */
  usable_from: Date;
  /** Exclusive; null for never. */
  expires_at: Date | null;
  note: string | null;
  purchase_id: number | null;
  /** From this instant its points can't be used. */
  void_requested_at: Date | null;
  /** The account that gets what is left then; null for none. */
  transfer_to: number | null;
  /** Null until the usage before that instant is settled. */
  voided_at: Date | null;
  points_voided: number | null;
  created_at: Date;
};

/** `nowMs` by Redis' clock, which dates usage. */
export function creditStatus(credit: Credit, nowMs: number): CreditStatus {
  if (credit.voided_at !== null) return 'void';
  if (credit.void_requested_at !== null) return 'voiding';
  if (hasExpired(credit, nowMs)) return 'expired';
  if (nowMs < credit.usable_from.getTime()) return 'scheduled';
  return credit.points_remaining === 0 ? 'used' : 'active';
}

export function hasExpired({ expires_at }: Pick<Credit, 'expires_at'>, nowMs: number): boolean {
  return expires_at !== null && expires_at.getTime() <= nowMs;
}
