import { z } from 'zod';
import { id, instant } from '../../http/answer-fields.ts';
import type { PendingAct } from './store.ts';

export const pendingActSchema = z
  .object({
    act_id: id,
    operation: z.string().meta({ description: 'The operation that waits, by its `operationId`.' }),
    account_id: id.nullable().meta({ description: 'Null for what is about plans.' }),
    plan_id: id.nullable().meta({ description: 'Of a change of one plan.' }),
    body: z.record(z.string(), z.unknown()).nullable().meta({ description: 'What the request has sent.' }),
    reason: z.string().nullable(),
    requested_by: z.string().meta({ description: 'The name of the operator.' }),
    requested_at: instant,
    expires_at: instant,
    is_own: z.boolean().meta({ description: 'Someone else must confirm it.' }),
  })
  .meta({ id: 'PendingAct' });

/** For operator `viewer`. */
export function actAnswer(act: PendingAct, viewer: number): z.input<typeof pendingActSchema> {
  const { act_id, operation_id, account_id, request, reason, person, requested_at, expires_at } = act;
  return {
    act_id,
    operation: operation_id,
    account_id,
    plan_id: request.params['plan_id'] === undefined ? null : Number(request.params['plan_id']),
    body: request.body as Record<string, unknown> | null,
    reason,
    requested_by: person.name,
    requested_at,
    expires_at,
    is_own: act.requested_by === viewer,
  };
}

export const HELD = {
  description: 'A second operator must confirm it within 24 hours.',
  schema: pendingActSchema,
};
