import { Problem } from '@tollgate/http/problem';
import { invalidFields } from '@tollgate/http/invalid-fields';
import { previousSecretActive } from '../../http/previous-secret-active.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Actor, AuditEntry } from '../../platform/audit/audit-log.ts';
import { changeOf } from '../../platform/audit/change.ts';
import type { Change } from '../../platform/audit/change.ts';
import type { Query } from '../../platform/database/query.ts';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import type { SealingKey } from '../../platform/sealing/sealing.ts';
import { enqueueDelivery, makeDue } from '../deliveries/stores/delivery-store.ts';
import type { Delivery } from '../deliveries/stores/delivery-store.ts';
import { disableWebhook } from '../deliveries/disable-webhook.ts';
import { newWebhookSecret } from '../secrets/secret.ts';
import { endPreviousSecrets, endSecrets, insertSecret, previousSecretEnd } from '../secrets/secret-store.ts';
import {
  countWebhooks,
  deleteWebhook,
  enableWebhook,
  findWebhook,
  insertWebhook,
  lockWebhook,
  storeWebhook,
} from './store.ts';
import type { Webhook, WebhookKey } from './store.ts';
import { urlFault } from '../../platform/outgoing/url-rules.ts';
import type { UrlRules } from '../../platform/outgoing/url-rules.ts';

export type WebhookSettings = {
  urlRules: UrlRules;
  sealingKeys: readonly SealingKey[];
  maxWebhooksPerAccount: number;
};

type Owner = { account_id: number; actor: Actor };

export type WithSecret = { webhook: Webhook; secret: string };

export type WebhookChanges = {
  url?: string | undefined;
  description?: string | undefined;
  enabled?: boolean | undefined;
};

/** @throws {Problem} invalid_request, webhook_limit_reached */
export async function createWebhook(
  query: Query,
  { url, description = '' }: { url: string; description?: string | undefined },
  { urlRules, sealingKeys, maxWebhooksPerAccount }: WebhookSettings,
  { account_id, actor }: Owner,
): Promise<WithSecret> {
  requireUrl(url, urlRules);
  await lockAccount(query, account_id);
  const count = await countWebhooks(query, account_id);
  if (count >= maxWebhooksPerAccount) {
    const detail = `The account has ${String(count)} webhooks. The limit is ${String(maxWebhooksPerAccount)}.`;
    throw new Problem('webhook_limit_reached', { detail });
  }
  const webhook = await insertWebhook(query, { account_id, url, description });
  const secret = newWebhookSecret();
  await insertSecret(query, webhook.webhook_id, secret, sealingKeys);
  await audit(query, { account_id, actor }, webhook, 'webhook_created', { url: shownUrl(url), description });
  return { webhook, secret };
}

/** Disabling fails the pending deliveries. @throws {Problem} invalid_request, not_found */
export async function changeWebhook(
  query: Query,
  webhookId: number,
  wanted: WebhookChanges,
  { urlRules }: Pick<WebhookSettings, 'urlRules'>,
  owner: Owner,
): Promise<Webhook> {
  if (wanted.url !== undefined) requireUrl(wanted.url, urlRules);
  const before = await lock(query, webhookId, owner);
  const enabledBefore = before.disabled_at === null;
  const { url = before.url, description = before.description, enabled = enabledBefore } = wanted;
  if (url === before.url && description === before.description && enabled === enabledBefore) return before;
  await storeWebhook(query, { webhook_id: webhookId, url, description });
  if (enabled && !enabledBefore) await enableWebhook(query, webhookId);
  if (!enabled && enabledBefore) await disableWebhook(query, webhookId, 'owner');
  await audit(query, owner, before, 'webhook_changed', { url: shownUrl(url), description, enabled });
  return (await findWebhook(query, keyOf(webhookId, owner))) ?? before;
}

/** @throws {Problem} not_found */
export async function removeWebhook(query: Query, webhookId: number, owner: Owner): Promise<void> {
  const webhook = await lock(query, webhookId, owner);
  await deleteWebhook(query, webhookId);
  await audit(query, owner, webhook, 'webhook_deleted', { url: shownUrl(webhook.url) });
}

/** The previous secret signs too during the overlap. @throws {Problem} not_found; previous_secret_active */
export async function rotateSecret(
  query: Query,
  webhookId: number,
  overlapSec: number,
  { sealingKeys }: Pick<WebhookSettings, 'sealingKeys'>,
  owner: Owner,
): Promise<WithSecret> {
  const before = await lock(query, webhookId, owner);
  const promised = await previousSecretEnd(query, webhookId);
  if (promised !== undefined) throw previousSecretActive(promised);
  await endSecrets(query, webhookId, overlapSec);
  const secret = newWebhookSecret();
  await insertSecret(query, webhookId, secret, sealingKeys);
  await audit(query, owner, before, 'webhook_secret_rotated', { overlap_sec: overlapSec });
  return { webhook: (await findWebhook(query, keyOf(webhookId, owner))) ?? before, secret };
}

/** Only the current secret signs from now on. @throws {Problem} not_found */
export async function endPreviousSecret(query: Query, webhookId: number, owner: Owner): Promise<Webhook> {
  const before = await lock(query, webhookId, owner);
  if (!(await endPreviousSecrets(query, webhookId))) return before;
  await audit(query, owner, before, 'webhook_previous_secret_ended', {});
  return { ...before, previous_secret_expires_at: null };
}

/** @throws {Problem} not_found, webhook_disabled */
export async function sendTest(query: Query, webhookId: number, owner: Owner): Promise<Delivery> {
  const webhook = await lockEnabled(query, webhookId, owner);
  const data = { webhook_id: webhookId, account_id: owner.account_id };
  await audit(query, owner, webhook, 'webhook_tested', {});
  return enqueueDelivery(query, webhookId, { type: 'webhook.test', timestamp: new Date(), data });
}

/** Attempts a delivery again at once, with the same message id. @throws {Problem} not_found, webhook_disabled */
export async function retryDelivery(
  query: Query,
  webhookId: number,
  deliveryId: number,
  owner: Owner,
): Promise<Delivery> {
  const webhook = await lockEnabled(query, webhookId, owner);
  const due = await makeDue(query, webhookId, deliveryId);
  if (due === undefined) throw new Problem('not_found');
  const change = changeOf(['status', 'next_attempt_at'], due.before, due.delivery);
  await audit(query, owner, webhook, 'webhook_delivery_retried', { delivery_id: deliveryId }, change);
  return due.delivery;
}

/** Without what logs must not contain: paths and parameters often hold a receiver's secret. */
export function shownUrl(url: string): string {
  return new URL(url).origin;
}

function requireUrl(url: string, rules: UrlRules): void {
  const fault = urlFault(url, rules);
  if (fault !== undefined) throw invalidFields([{ field: 'url', message: fault }]);
}

function keyOf(webhook_id: number, { account_id }: Owner): WebhookKey {
  return { webhook_id, account_id };
}

async function lock(query: Query, webhookId: number, owner: Owner): Promise<Webhook> {
  const webhook = await lockWebhook(query, keyOf(webhookId, owner));
  if (webhook === undefined) throw new Problem('not_found');
  return webhook;
}

async function lockEnabled(query: Query, webhookId: number, owner: Owner): Promise<Webhook> {
  const webhook = await lock(query, webhookId, owner);
  if (webhook.disabled_at !== null) throw new Problem('webhook_disabled');
  return webhook;
}

async function audit(
  query: Query,
  { account_id, actor }: Owner,
  { webhook_id }: Pick<Webhook, 'webhook_id'>,
  action: AuditEntry['action'],
  details: AuditEntry['details'],
  change?: Change,
): Promise<void> {
  const entry = { ...actor, action, account_id, application_id: null };
  await recordAudit(query, { ...entry, details: { webhook_id, ...details }, change });
}
