import type { RequestHandler } from 'express';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import { alertSettingsSchema } from './input.ts';
import { findAlertSettings, storeAlertSettings } from './settings-store.ts';

/**
 * `GET /api/console/alerts`: 200 `{mail, shares, limits}`: thresholds in whole percents; `limits` has those
 * of limits with their own. Applies to the periods that the account pays for, its team's included. 401; 503.
 */
export function alertSettingsEndpoint({ query }: { query: Query }): RequestHandler {
  return async (_req, res) => {
    res.json(await findAlertSettings(query, signedIn(res).account_id));
  };
}

/**
 * `PUT /api/console/alerts` with `{mail, shares, limits}` replaces all settings: 200. A list has up to 10
 * different thresholds from 1 to 100; an empty one means no alerts; `limits` is optional. A threshold that
 * the current period has passed causes an alert at once. 400 `invalid_request`.
 */
export function changeAlertSettingsEndpoint({ transact }: { transact: Transact }): RequestHandler {
  return async (req, res) => {
    const { limits = {}, ...rest } = bodyOf(req, alertSettingsSchema);
    const wanted = { ...rest, limits };
    const { account_id, actor } = signedIn(res);
    await transact(async (query) => {
      await storeAlertSettings(query, account_id, wanted);
      const entry = { ...actor, account_id, application_id: null };
      await recordAudit(query, { ...entry, action: 'alert_settings_changed', details: wanted });
    });
    res.json(wanted);
  };
}
