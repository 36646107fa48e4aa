import type { Request, RequestHandler, Response } from 'express';
import { Problem } from '@tollgate/http/problem';
import { refuseExceeded } from '../../identity/attempts/attempt-counts.ts';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import { idOf } from '../../http/input/id-parameter.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { cutPage, lookAhead, queryOf } from '../../http/input/page.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import {
  changeWebhook,
  createWebhook,
  endPreviousSecret,
  removeWebhook,
  retryDelivery,
  rotateSecret,
  sendTest,
} from './changes.ts';
import type { WebhookSettings } from './changes.ts';
import { listDeliveries } from '../deliveries/stores/delivery-store.ts';
import {
  deliveryListSchema,
  newWebhookSchema,
  webhookChangesSchema,
  webhookRotationSchema,
} from './input.ts';
import { findWebhook, listWebhooks } from './store.ts';
import type { Webhook } from './store.ts';

/**
 * The signed-in account's webhooks. `disabled_reason` is null, `owner`, `gone` (it answered 410) or `failing`
 * (for days). A delivery's `attempted_at` to `error` describe the last attempt; `attempt_log` has the newest
 * 30, newest first. 400 `invalid_request`; 401; 404 `not_found` also for another account's; 503 if Postgres
 * is unavailable.
 */

export type WebhookParts = {
  query: Query;
  transact: Transact;
  counts: AttemptCounts;
  webhookSettings: WebhookSettings;
  wakeWebhooks: () => void;
};

/** Tests and retries per account: each is a request of ours to a server of theirs, and takes a slot (ADR 0081). */
const ASKED_FOR = [
  { max: 10, windowSec: 60 },
  { max: 60, windowSec: 3_600 },
];

/** `GET /api/console/webhooks`: 200 `{webhooks}`, newest first. */
export function listWebhooksEndpoint({ query }: Pick<WebhookParts, 'query'>): RequestHandler {
  return async (_req, res) => {
    const webhooks = await listWebhooks(query, signedIn(res).account_id);
    res.json({ webhooks: webhooks.map(answer) });
  };
}

/**
 * `POST /api/console/webhooks` with `{url, description}`: 201, the record and `secret`, only here. The URL is
 * https (http if WEBHOOK_ALLOW_HTTP is set), on port 443, 80 or from 1024. 409 `webhook_limit_reached`; 403
 * `account_blocked`.
 */
export function createWebhookEndpoint({ transact, webhookSettings }: WebhookParts): RequestHandler {
  return async (req, res) => {
    const wanted = bodyOf(req, newWebhookSchema);
    const made = await transact((query) => createWebhook(query, wanted, webhookSettings, signedIn(res)));
    res.status(201).json({ ...answer(made.webhook), secret: made.secret });
  };
}

/** `GET /api/console/webhooks/{webhook_id}`: 200, the record. */
export function readWebhookEndpoint({ query }: Pick<WebhookParts, 'query'>): RequestHandler {
  return async (req, res) => {
    res.json(answer(await foundWebhook(query, req, res)));
  };
}

/**
 * `PATCH /api/console/webhooks/{webhook_id}` with any of `{url, description, enabled}`: 200, the record.
 * Disabling fails the pending deliveries.
 */
export function changeWebhookEndpoint({ transact, webhookSettings }: WebhookParts): RequestHandler {
  return async (req, res) => {
    const wanted = bodyOf(req, webhookChangesSchema);
    const changed = await transact((query) =>
      changeWebhook(query, idOf(req, 'webhook_id'), wanted, webhookSettings, signedIn(res)),
    );
    res.json(answer(changed));
  };
}

/** `DELETE /api/console/webhooks/{webhook_id}`: 204. Also deletes its deliveries. */
export function deleteWebhookEndpoint({ transact }: WebhookParts): RequestHandler {
  return async (req, res) => {
    await transact((query) => removeWebhook(query, idOf(req, 'webhook_id'), signedIn(res)));
    res.status(204).end();
  };
}

/**
 * `POST …/webhooks/{webhook_id}/rotate-secret` with `{overlap_sec}` (0 to 604800): 200, the record and
 * `secret`. Both secrets sign during the overlap; of three, the oldest ends at once.
 */
export function rotateWebhookSecretEndpoint({ transact, webhookSettings }: WebhookParts): RequestHandler {
  return async (req, res) => {
    const { overlap_sec } = bodyOf(req, webhookRotationSchema);
    const rotated = await transact((query) =>
      rotateSecret(query, idOf(req, 'webhook_id'), overlap_sec, webhookSettings, signedIn(res)),
    );
    res.json({ ...answer(rotated.webhook), secret: rotated.secret });
  };
}

/** `DELETE …/webhooks/{webhook_id}/previous-secret`: 200, the record, also if there is none. */
export function endPreviousWebhookSecretEndpoint({ transact }: WebhookParts): RequestHandler {
  return async (req, res) => {
    const webhookId = idOf(req, 'webhook_id');
    res.json(answer(await transact((query) => endPreviousSecret(query, webhookId, signedIn(res)))));
  };
}

/**
 * `POST …/webhooks/{webhook_id}/test`, without a body: 202, the delivery. 409 `webhook_disabled`; 403
 * `account_blocked`; 429 after 10 tests and retries in a minute, or 60 in an hour.
 */
export function testWebhookEndpoint({ transact, counts, wakeWebhooks }: WebhookParts): RequestHandler {
  return async (req, res) => {
    await countAskedFor(counts, res);
    const delivery = await transact((query) => sendTest(query, idOf(req, 'webhook_id'), signedIn(res)));
    wakeWebhooks();
    res.status(202).json(delivery);
  };
}

/**
 * `GET …/webhooks/{webhook_id}/deliveries?limit=50&cursor=…&status=failed`: 200 `{deliveries, next_cursor}`,
 * newest first; `limit` is 1 to 200. Kept for WEBHOOK_DELIVERY_RETENTION_SEC.
 */
export function listDeliveriesEndpoint({ query }: Pick<WebhookParts, 'query'>): RequestHandler {
  return async (req, res) => {
    const wanted = queryOf(req, deliveryListSchema);
    const { webhook_id } = await foundWebhook(query, req, res);
    const page = { ...lookAhead(wanted), status: wanted.status ?? null };
    const { rows, next_cursor } = cutPage(
      await listDeliveries(query, webhook_id, page),
      wanted,
      ({ delivery_id }) => delivery_id,
    );
    res.json({ deliveries: rows, next_cursor });
  };
}

/**
 * `POST …/deliveries/{delivery_id}/retry`, without a body: 202, the delivery, due now whatever its status,
 * with the same `webhook-id`. Errors as for tests.
 */
export function retryDeliveryEndpoint({ transact, counts, wakeWebhooks }: WebhookParts): RequestHandler {
  return async (req, res) => {
    await countAskedFor(counts, res);
    const ids = [idOf(req, 'webhook_id'), idOf(req, 'delivery_id')] as const;
    const delivery = await transact((query) => retryDelivery(query, ...ids, signedIn(res)));
    wakeWebhooks();
    res.status(202).json(delivery);
  };
}

async function countAskedFor(counts: AttemptCounts, res: Response): Promise<void> {
  const ofAccount = `webhook attempts ${String(signedIn(res).account_id)}`;
  const limits = ASKED_FOR.map((limit) => ({ subject: `${ofAccount} ${String(limit.windowSec)}`, ...limit }));
  refuseExceeded(await counts.take(limits));
}

async function foundWebhook(query: Query, req: Request, res: Response): Promise<Webhook> {
  const key = { webhook_id: idOf(req, 'webhook_id'), account_id: signedIn(res).account_id };
  const webhook = await findWebhook(query, key);
  if (webhook === undefined) throw new Problem('not_found');
  return webhook;
}

function answer({ webhook_id, url, description, ...rest }: Webhook) {
  return { webhook_id, url, description, enabled: rest.disabled_at === null, ...rest };
}
