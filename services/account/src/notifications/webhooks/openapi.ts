import { z } from 'zod';
import type { Answer, ApiChapter } from '../../http/operation.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import {
  deliveryPageSchema,
  deliverySchema,
  webhookSchema,
  webhookWithSecretSchema,
  webhooksSchema,
} from './answers.ts';
import {
  deliveryListSchema,
  newWebhookSchema,
  webhookChangesSchema,
  webhookRotationSchema,
} from './input.ts';

const ofWebhook = z.object({ webhook_id: idParameter });
const ofDelivery = ofWebhook.extend({ delivery_id: idParameter });

const WEBHOOK: Answer = { description: 'The webhook.', schema: webhookSchema };

export const webhookApi: ApiChapter = {
  title: 'Webhooks',
  description:
    'Servers that are told of alerts by signed requests, as Standard Webhooks has them (docs/webhooks.md).',
  operations: {
    'GET /api/console/webhooks': {
      operationId: 'listWebhooks',
      summary: "One's webhooks, newest first",
      caller: 'session',
      answers: { 200: { description: 'All of them.', schema: webhooksSchema } },
    },
    'POST /api/console/webhooks': {
      operationId: 'createWebhook',
      summary: 'Makes a webhook',
      caller: 'session',
      body: newWebhookSchema,
      example: { url: 'https://hooks.example.com/tollgate', description: 'The pager' },
      answers: { 201: { description: 'It, with its secret.', schema: webhookWithSecretSchema } },
      problems: ['account_blocked', 'webhook_limit_reached', 'invalid_request'],
    },
    'GET /api/console/webhooks/{webhook_id}': {
      operationId: 'getWebhook',
      summary: 'A webhook',
      caller: 'session',
      params: ofWebhook,
      answers: { 200: WEBHOOK },
    },
    'PATCH /api/console/webhooks/{webhook_id}': {
      operationId: 'changeWebhook',
      summary: 'Changes a webhook, or switches it off or on',
      description:
        'Switched off, its pending deliveries fail; switched on, it gets what happens from then on.',
      caller: 'session',
      params: ofWebhook,
      body: webhookChangesSchema,
      example: { enabled: true },
      answers: { 200: WEBHOOK },
    },
    'DELETE /api/console/webhooks/{webhook_id}': {
      operationId: 'deleteWebhook',
      summary: 'Deletes a webhook, with its delivery log',
      caller: 'session',
      params: ofWebhook,
      answers: { 204: { description: 'It is gone.' } },
    },
    'POST /api/console/webhooks/{webhook_id}/rotate-secret': {
      operationId: 'rotateWebhookSecret',
      summary: 'Gives a webhook a new secret',
      description: 'What is sent within the overlap has the signatures of both.',
      caller: 'session',
      params: ofWebhook,
      body: webhookRotationSchema,
      example: { overlap_sec: 86_400 },
      answers: { 200: { description: 'It, with its new secret.', schema: webhookWithSecretSchema } },
    },
    'POST /api/console/webhooks/{webhook_id}/test': {
      operationId: 'testWebhook',
      summary: 'Sends a test event',
      caller: 'session',
      params: ofWebhook,
      answers: { 202: { description: 'What will be sent.', schema: deliverySchema } },
      problems: ['account_blocked', 'webhook_disabled', 'too_many_requests'],
    },
    'GET /api/console/webhooks/{webhook_id}/deliveries': {
      operationId: 'listWebhookDeliveries',
      summary: 'What was sent and what came of it, newest first',
      caller: 'session',
      params: ofWebhook,
      query: deliveryListSchema,
      answers: { 200: { description: 'One page.', schema: deliveryPageSchema } },
    },
    'POST /api/console/webhooks/{webhook_id}/deliveries/{delivery_id}/retry': {
      operationId: 'retryWebhookDelivery',
      summary: 'Tries a delivery once more, now',
      description: 'Whatever came of it before, and under the same `webhook-id`.',
      caller: 'session',
      params: ofDelivery,
      answers: { 202: { description: 'The delivery, which is pending.', schema: deliverySchema } },
      problems: ['account_blocked', 'webhook_disabled', 'too_many_requests'],
    },
  },
};
