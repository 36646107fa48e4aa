import { z } from 'zod';
import { id, instant, nextCursor } from '../../http/answer-fields.ts';
import { KEPT_ATTEMPTS } from '../deliveries/attempt-store.ts';
import { ATTEMPT_ERRORS, DELIVERY_ERRORS } from '../deliveries/delivery-errors.ts';

/** Answers about webhooks, as the API's document describes them. */

export const webhookSchema = z
  .object({
    webhook_id: id,
    url: z.string(),
    description: z.string(),
    enabled: z.boolean(),
    created_at: instant,
    disabled_at: instant.nullable(),
    disabled_reason: z.enum(['owner', 'gone', 'failing']).nullable().meta({
      description: 'Who or what switched it off: its owner, an answer of 410, or days of failures.',
    }),
    failing_since: instant.nullable().meta({
      description: 'The first failed attempt since the last one that succeeded.',
    }),
    previous_secret_expires_at: instant.nullable().meta({
      description: 'Until when the secret before the present one signs too.',
    }),
  })
  .meta({ id: 'Webhook' });

export const webhooksSchema = z.object({ webhooks: z.array(webhookSchema) });

export const webhookWithSecretSchema = webhookSchema.extend({
  secret: z.string().meta({ description: '`whsec_` and base64. It is in this answer only.' }),
});

const attemptSchema = z
  .object({
    attempt: z.int().min(1),
    attempted_at: instant.meta({ description: 'When it came to an end.' }),
    response_status: z.int().nullable(),
    duration_ms: z.int().min(0).nullable(),
    error: z.enum(ATTEMPT_ERRORS).nullable(),
    next_attempt_at: instant.nullable().meta({
      description: 'When the next one was to come, as planned after this one; null where none was.',
    }),
  })
  .meta({ id: 'WebhookDeliveryAttempt' });

export const deliverySchema = z
  .object({
    delivery_id: id,
    message_id: z.string().meta({ description: 'The header `webhook-id`, the same at every attempt.' }),
    event_type: z.enum(['usage.alert', 'webhook.test']),
    status: z.enum(['pending', 'delivered', 'failed']),
    attempts: z.int().min(0),
    next_attempt_at: instant.nullable().meta({ description: 'Null unless it is pending.' }),
    created_at: instant,
    attempted_at: instant.nullable().meta({
      description: 'This, the status, the duration and the error are of the last attempt.',
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
