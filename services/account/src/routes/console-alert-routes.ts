import { Router } from 'express';
import type { RequestHandler } from 'express';
import { methodNotAllowed } from '@tollgate/http/error-handler';
import { alertSettingsEndpoint, changeAlertSettingsEndpoint } from '../notifications/alerts/endpoints.ts';
import { readJsonBody } from '../http/input/json-body.ts';
import { refuseBlocked } from '../billing/entitlements/refuse-blocked.ts';
import {
  changeWebhookEndpoint,
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  endPreviousWebhookSecretEndpoint,
  listDeliveriesEndpoint,
  listWebhooksEndpoint,
  readWebhookEndpoint,
  retryDeliveryEndpoint,
  rotateWebhookSecretEndpoint,
  testWebhookEndpoint,
} from '../notifications/webhooks/endpoints.ts';
import type { WebhookParts } from '../notifications/webhooks/endpoints.ts';

/** Blocked accounts cannot create webhooks or send events. */
export function alertRoutes(parts: WebhookParts, session: RequestHandler): Router {
  const unblocked = refuseBlocked(parts.query);
  const body = readJsonBody;
  const router = Router({ strict: true, caseSensitive: true });
  router.use(['/alerts', '/webhooks'], session);
  router
    .route('/alerts')
    .get(alertSettingsEndpoint(parts))
    .put(body, changeAlertSettingsEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD', 'PUT'));
  router
    .route('/webhooks')
    .get(listWebhooksEndpoint(parts))
    .post(unblocked, body, createWebhookEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD', 'POST'));
  const path = '/webhooks/:webhook_id';
  router
    .route(path)
    .get(readWebhookEndpoint(parts))
    .patch(body, changeWebhookEndpoint(parts))
    .delete(deleteWebhookEndpoint(parts))
    .all(methodNotAllowed('GET', 'HEAD', 'PATCH', 'DELETE'));
  router
    .route(`${path}/rotate-secret`)
    .post(body, rotateWebhookSecretEndpoint(parts))
    .all(methodNotAllowed('POST'));
  router
    .route(`${path}/previous-secret`)
    .delete(endPreviousWebhookSecretEndpoint(parts))
    .all(methodNotAllowed('DELETE'));
  router.route(`${path}/test`).post(unblocked, testWebhookEndpoint(parts)).all(methodNotAllowed('POST'));
  router.route(`${path}/deliveries`).get(listDeliveriesEndpoint(parts)).all(methodNotAllowed('GET', 'HEAD'));
  router
    .route(`${path}/deliveries/:delivery_id/retry`)
    .post(unblocked, retryDeliveryEndpoint(parts))
    .all(methodNotAllowed('POST'));
  return router;
}
