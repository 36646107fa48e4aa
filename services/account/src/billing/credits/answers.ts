import { z } from 'zod';
import { id, instant } from '../../http/answer-fields.ts';
import { CREDIT_SOURCES } from './allocation.ts';
import { CREDIT_STATUSES, creditStatus } from './credit.ts';
import type { Credit } from './credit.ts';
import { LEDGERS } from './ledgers.ts';

const count = z.int().min(0);

export const creditSchema = z
  .object({
    credit_id: id,
    account_id: id,
    status: z.enum(CREDIT_STATUSES).meta({
      description:
        '`scheduled` before `effective_at`; `used` if nothing is left; `voiding` until the points that were left are known.',
    }),
    points: count,
    points_remaining: count.meta({ description: 'What is left by the last settlement of usage.' }),
    source: z.enum(CREDIT_SOURCES),
    priority: count.meta({ description: 'Grants with a lower number are used first.' }),
    effective_at: instant,
    expires_at: instant.nullable().meta({ description: 'Exclusive; null if the points do not expire.' }),
    note: z.string().nullable(),
    purchase_id: id.nullable(),
    void_requested_at: instant.nullable(),
    transfer_to: id.nullable().meta({ description: 'The account that gets what is left; null for none.' }),
    voided_at: instant.nullable(),
    points_voided: count.nullable().meta({ description: 'Null until the status is `void`.' }),
    created_at: instant,
  })
  .meta({ id: 'Credit' });

export const movementSchema = z
  .object({
    movement_id: id,
    credit_id: id,
    account_id: id,
    from_ledger: z.enum(LEDGERS),
    to_ledger: z.enum(LEDGERS),
    points: count,
    reason: z.string(),
    corrects_movement_id: id.nullable().meta({ description: 'The movement that this one takes back.' }),
    period_id: id.nullable().meta({ description: 'The billing period whose usage it covers.' }),
    at: instant.meta({
      description: 'The instant that it is dated at; `created_at` is when it was written.',
    }),
    actor: z.string(),
    purchase_id: id.nullable(),
    stripe_id: z.string().nullable(),
    created_at: instant,
  })
  .meta({ id: 'CreditMovement' });

/** `nowMs` by Redis' clock. */
export function creditAnswer(credit: Credit, nowMs: number) {
  const { usable_from: _exact, ...shown } = credit;
  return { ...shown, status: creditStatus(credit, nowMs) };
}
