import { z } from 'zod';
import type { Answer } from '@tollgate/contracts/api-description';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { Problem } from '@tollgate/http/problem';
import { unblocked } from '../../billing/entitlements/refuse-blocked.ts';
import { cutPage, lookAhead } from '../../http/input/page.ts';
import { refuseExceeded } from '../../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import { session } from '../../identity/sessions/require-session.ts';
import type { SignedIn } from '../../identity/sessions/require-session.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { listDeliveries } from '../deliveries/stores/delivery-store.ts';
import {
  changeWebhook,
  createWebhook,
  endPreviousSecret,
  removeWebhook,
  retryDelivery,
  rotateSecret,
  sendTest,
  shownUrl,
} from './changes.ts';
import type { WebhookSettings } from './changes.ts';
import { findWebhook, listWebhooks } from './store.ts';
import type { Webhook } from './store.ts';
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

type Needs = {
  query: Query;
  transact: Transact;
  counts: AttemptCounts;
  webhookSettings: WebhookSettings;
  wakeWebhooks: () => void;
};

/**
 * Tests and retries per account: each is a request of ours to a server of theirs, and takes a slot
 * (docs/design/deliveries.md).
 */
const ASKED_FOR = [
  { max: 10, windowSec: 60 },
  { max: 60, windowSec: 3_600 },
];

const ofWebhook = z.object({ webhook_id: idParameter });
const ofDelivery = ofWebhook.extend({ delivery_id: idParameter });

const WEBHOOK = { description: 'The webhook.', schema: webhookSchema } satisfies Answer;

export const ownerWebhooks = {
  title: 'Webhooks',
  description: 'Servers that receive usage alerts as signed requests (Standard Webhooks).',
  operations: [
    operation('GET /api/console/webhooks', {
      operationId: 'listWebhooks',
      summary: 'List webhooks, newest first',
      caller: session,
      answers: { 200: { description: 'All webhooks.', schema: webhooksSchema } },
      handle: async ({ query }: Needs, { by }) => ({
        webhooks: (await listWebhooks(query, by.account_id)).map((webhook) => shownTo(by, webhook)),
      }),
    }),
    operation('POST /api/console/webhooks', {
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      caller: session,
      guard: unblocked,
      body: newWebhookSchema,
      example: { url: 'https://hooks.example.com/tollgate', description: 'The pager' },
      answers: { 201: { description: 'The webhook with its secret.', schema: webhookWithSecretSchema } },
      problems: ['account_blocked', 'webhook_limit_reached', 'invalid_request'],
      handle: async ({ transact, webhookSettings }: Needs, { by, body }) => {
        const made = await transact((query) => createWebhook(query, body, webhookSettings, by));
        return { ...webhookAnswer(made.webhook), secret: made.secret };
      },
    }),
    operation('GET /api/console/webhooks/{webhook_id}', {
      operationId: 'getWebhook',
      summary: 'Get a webhook',
      caller: session,
      params: ofWebhook,
      answers: { 200: WEBHOOK },
      handle: async ({ query }: Needs, { by, params: { webhook_id } }) =>
        shownTo(by, await foundWebhook(query, { webhook_id, account_id: by.account_id })),
    }),
    operation('PATCH /api/console/webhooks/{webhook_id}', {
      operationId: 'changeWebhook',
      summary: 'Change, disable or enable a webhook',
      description:
        'Disabling a webhook fails its pending deliveries. An enabled webhook receives new events only.',
      caller: session,
      params: ofWebhook,
      body: webhookChangesSchema,
      example: { enabled: true },
      answers: { 200: WEBHOOK },
      handle: async ({ transact, webhookSettings }: Needs, { by, params: { webhook_id }, body }) =>
        webhookAnswer(await transact((query) => changeWebhook(query, webhook_id, body, webhookSettings, by))),
    }),
    operation('DELETE /api/console/webhooks/{webhook_id}', {
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook and its delivery log',
      caller: session,
      params: ofWebhook,
      answers: { 204: { description: 'Deleted.' } },
      handle: async ({ transact }: Needs, { by, params: { webhook_id } }) => {
        await transact((query) => removeWebhook(query, webhook_id, by));
      },
    }),
    operation('POST /api/console/webhooks/{webhook_id}/rotate-secret', {
      operationId: 'rotateWebhookSecret',
      summary: 'Rotate the webhook secret',
      description:
        'Requests sent within the overlap are signed with both secrets; until its end, another rotation returns ' +
        '`previous_secret_active`.',
      caller: session,
      params: ofWebhook,
      body: webhookRotationSchema,
      example: { overlap_sec: 86_400 },
      answers: { 200: { description: 'The webhook with its new secret.', schema: webhookWithSecretSchema } },
      problems: ['previous_secret_active'],
      handle: async ({ transact, webhookSettings }: Needs, { by, params: { webhook_id }, body }) => {
        const rotated = await transact((query) =>
          rotateSecret(query, webhook_id, body.overlap_sec, webhookSettings, by),
        );
        return { ...webhookAnswer(rotated.webhook), secret: rotated.secret };
      },
    }),
    operation('DELETE /api/console/webhooks/{webhook_id}/previous-secret', {
      operationId: 'endPreviousWebhookSecret',
      summary: 'End the previous webhook secret',
      description: 'Ends the overlap of a rotation. Succeeds also if there is no previous secret.',
      caller: session,
      params: ofWebhook,
      answers: { 200: WEBHOOK },
      handle: async ({ transact }: Needs, { by, params: { webhook_id } }) =>
        webhookAnswer(await transact((query) => endPreviousSecret(query, webhook_id, by))),
    }),
    operation('POST /api/console/webhooks/{webhook_id}/test', {
      operationId: 'testWebhook',
      summary: 'Send a test event',
      caller: session,
      guard: unblocked,
      params: ofWebhook,
      answers: { 202: { description: 'The delivery, which is pending.', schema: deliverySchema } },
      problems: ['account_blocked', 'webhook_disabled', 'too_many_requests'],
      handle: async ({ transact, counts, wakeWebhooks }: Needs, { by, params: { webhook_id } }) => {
        await countAskedFor(counts, by.account_id);
        const delivery = await transact((query) => sendTest(query, webhook_id, by));
        wakeWebhooks();
        return delivery;
      },
    }),
    operation('GET /api/console/webhooks/{webhook_id}/deliveries', {
      operationId: 'listWebhookDeliveries',
      summary: 'List deliveries, newest first',
      caller: session,
      params: ofWebhook,
      query: deliveryListSchema,
      answers: { 200: { description: 'One page.', schema: deliveryPageSchema } },
      handle: async ({ query: read }: Needs, { by, params: { webhook_id }, query }) => {
        await foundWebhook(read, { webhook_id, account_id: by.account_id });
        const page = { ...lookAhead(query), status: query.status ?? null };
        const found = await listDeliveries(read, webhook_id, page);
        const { rows, next_cursor } = cutPage(found, query, ({ delivery_id }) => delivery_id);
        return { deliveries: rows, next_cursor };
      },
    }),
    operation('POST /api/console/webhooks/{webhook_id}/deliveries/{delivery_id}/retry', {
      operationId: 'retryWebhookDelivery',
      summary: 'Retry a delivery now',
      description: 'Whatever its status. The retry has the same `webhook-id`.',
      caller: session,
      guard: unblocked,
      params: ofDelivery,
      answers: { 202: { description: 'The delivery, which is pending.', schema: deliverySchema } },
      problems: ['account_blocked', 'webhook_disabled', 'too_many_requests'],
      handle: async ({ transact, counts, wakeWebhooks }: Needs, { by, params }) => {
        await countAskedFor(counts, by.account_id);
        const { webhook_id, delivery_id } = params;
        const delivery = await transact((query) => retryDelivery(query, webhook_id, delivery_id, by));
        wakeWebhooks();
        return delivery;
      },
    }),
  ],
} satisfies Chapter;

/** @throws {Problem} too_many_requests */
export async function countAskedFor(counts: AttemptCounts, accountId: number): Promise<void> {
  const ofAccount = `webhook attempts ${String(accountId)}`;
  const limits = ASKED_FOR.map((limit) => ({ subject: `${ofAccount} ${String(limit.windowSec)}`, ...limit }));
  refuseExceeded(await counts.take(limits));
}

async function foundWebhook(query: Query, key: { webhook_id: number; account_id: number }): Promise<Webhook> {
  const webhook = await findWebhook(query, key);
  if (webhook === undefined) throw new Problem('not_found');
  return webhook;
}

/** A view shows of an address what operators see of it elsewhere. */
function shownTo({ isView }: Pick<SignedIn, 'isView'>, webhook: Webhook) {
  const answer = webhookAnswer(webhook);
  return isView ? { ...answer, url: shownUrl(webhook.url) } : answer;
}

export function webhookAnswer({ webhook_id, url, description, ...rest }: Webhook) {
  return { webhook_id, url, description, enabled: rest.disabled_at === null, ...rest };
}
