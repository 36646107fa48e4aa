import { z } from 'zod';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { EVENT_TYPES } from '../deliveries/event.ts';
import { KEPT_ATTEMPTS } from '../deliveries/stores/attempt-store.ts';
import { ATTEMPT_ERRORS, DELIVERY_ERRORS } from '../deliveries/delivery-errors.ts';

export const webhookSchema = z
  .object({
    webhook_id: id,
    url: z.string(),
    description: z.string(),
    enabled: z.boolean(),
    created_at: instant,
    disabled_at: instant.nullable(),
    disabled_reason: z.enum(['owner', 'gone', 'failing']).nullable().meta({
      description: 'Why it is disabled: by its owner, after a 410 response, or after days of failures.',
    }),
    failing_since: instant.nullable().meta({
      description: 'The first failed attempt since the last one that succeeded.',
    }),
    previous_secret_expires_at: instant.nullable().meta({
      description: 'Until then, the previous secret signs too.',
    }),
  })
  .meta({ id: 'Webhook' });

export const webhooksSchema = z.object({ webhooks: z.array(webhookSchema) });

export const webhookWithSecretSchema = webhookSchema.extend({
  secret: z.string().meta({ description: '`whsec_` and base64. Returned by this response only.' }),
});

const attemptSchema = z
  .object({
    attempt: z.int().min(1),
    attempted_at: instant.meta({ description: 'When the attempt ended.' }),
    response_status: z.int().nullable(),
    duration_ms: z.int().min(0).nullable(),
    error: z.enum(ATTEMPT_ERRORS).nullable(),
    next_attempt_at: instant.nullable().meta({
      description: 'When the next attempt was planned for; null if none was.',
    }),
  })
  .meta({ id: 'WebhookDeliveryAttempt' });

export const deliverySchema = z
  .object({
    delivery_id: id,
    message_id: z.string().meta({ description: 'The header `webhook-id`, the same for every attempt.' }),
    event_type: z.enum(EVENT_TYPES),
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.int().min(0),
    next_attempt_at: instant.nullable().meta({ description: 'Null unless the delivery is pending.' }),
    created_at: instant,
    attempted_at: instant.nullable().meta({
      description:
        'When the last attempt ended. `response_status`, `duration_ms` and `error` are of the same attempt.',
    }),
    response_status: z.int().nullable(),
    duration_ms: z.int().min(0).nullable(),
    error: z.enum(DELIVERY_ERRORS).nullable(),
    attempt_log: z
      .array(attemptSchema)
      .max(KEPT_ATTEMPTS)
      .meta({ description: 'The newest attempts, newest first.' }),
  })
  .meta({ id: 'WebhookDelivery' });

export const deliveryPageSchema = z.object({ deliveries: z.array(deliverySchema), next_cursor: nextCursor });
