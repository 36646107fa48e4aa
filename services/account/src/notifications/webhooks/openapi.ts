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
  description: 'Servers that receive usage alerts as signed requests (Standard Webhooks).',
  operations: {
    'GET /api/console/webhooks': {
      operationId: 'listWebhooks',
      summary: 'List webhooks, newest first',
      caller: 'session',
      answers: { 200: { description: 'All webhooks.', schema: webhooksSchema } },
    },
    'POST /api/console/webhooks': {
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      caller: 'session',
      body: newWebhookSchema,
      example: { url: 'https://hooks.example.com/tollgate', description: 'The pager' },
      answers: { 201: { description: 'The webhook with its secret.', schema: webhookWithSecretSchema } },
      problems: ['account_blocked', 'webhook_limit_reached', 'invalid_request'],
    },
    'GET /api/console/webhooks/{webhook_id}': {
      operationId: 'getWebhook',
      summary: 'Get a webhook',
      caller: 'session',
      params: ofWebhook,
      answers: { 200: WEBHOOK },
    },
    'PATCH /api/console/webhooks/{webhook_id}': {
      operationId: 'changeWebhook',
      summary: 'Change, disable or enable a webhook',
      description:
        'Disabling a webhook fails its pending deliveries. An enabled webhook receives new events only.',
      caller: 'session',
      params: ofWebhook,
      body: webhookChangesSchema,
      example: { enabled: true },
      answers: { 200: WEBHOOK },
    },
    'DELETE /api/console/webhooks/{webhook_id}': {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook and its delivery log',
      caller: 'session',
      params: ofWebhook,
      answers: { 204: { description: 'Deleted.' } },
    },
    'POST /api/console/webhooks/{webhook_id}/rotate-secret': {
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the webhook secret',
      description:
        'Requests sent within the overlap are signed with both secrets; until its end, another rotation returns ' +
        '`previous_secret_active`.',
      caller: 'session',
      params: ofWebhook,
      body: webhookRotationSchema,
      example: { overlap_sec: 86_400 },
      answers: { 200: { description: 'The webhook with its new secret.', schema: webhookWithSecretSchema } },
      problems: ['previous_secret_active'],
    },
    'DELETE /api/console/webhooks/{webhook_id}/previous-secret': {
      operationId: 'endPreviousWebhookSecret',
      summary: 'End the previous webhook secret',
      description: 'Ends the overlap of a rotation. Succeeds also if there is no previous secret.',
      caller: 'session',
      params: ofWebhook,
      answers: { 200: WEBHOOK },
    },
    'POST /api/console/webhooks/{webhook_id}/test': {
      operationId: 'testWebhook',
      summary: 'Send a test event',
      caller: 'session',
      params: ofWebhook,
      answers: { 202: { description: 'The delivery, which is pending.', schema: deliverySchema } },
      problems: ['account_blocked', 'webhook_disabled', 'too_many_requests'],
    },
    'GET /api/console/webhooks/{webhook_id}/deliveries': {
      operationId: 'listWebhookDeliveries',
      summary: 'List deliveries, newest first',
      caller: 'session',
      params: ofWebhook,
      query: deliveryListSchema,
      answers: { 200: { description: 'One page.', schema: deliveryPageSchema } },
    },
    'POST /api/console/webhooks/{webhook_id}/deliveries/{delivery_id}/retry': {
      operationId: 'retryWebhookDelivery',
      summary: 'Retry a delivery now',
      description: 'Whatever its status. The retry has the same `webhook-id`.',
      caller: 'session',
      params: ofDelivery,
      answers: { 202: { description: 'The delivery, which is pending.', schema: deliverySchema } },
      problems: ['account_blocked', 'webhook_disabled', 'too_many_requests'],
    },
  },
};
