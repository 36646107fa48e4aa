import type { RequestHandler } from 'express';
import { Problem } from '@tollgate/http/problem';
import { lockAccount } from '../../identity/accounts/account-store.ts';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import { alertSettingsSchema } from './input.ts';
import type { AlertSettings } from './rules.ts';
import { findAlertSettings, storeAlertSettings, versionOf } from './settings-store.ts';

/**
 * `GET /api/console/alerts`: 200 `{mail, shares, limits, version}`: thresholds in whole percents; `limits` has
 * those of limits with their own. Applies to the periods that the account pays for, its team's included. 401; 503.
 */
export function alertSettingsEndpoint({ query }: { query: Query }): RequestHandler {
  return async (_req, res) => {
    res.json(answer(await findAlertSettings(query, signedIn(res).account_id)));
  };
}

/**
 * `PUT /api/console/alerts` with `{mail, shares, limits, version}` replaces all settings: 200. A list has up to 10
 * different thresholds from 1 to 100; an empty one means no alerts; `limits` and
 * `version` are optional. A threshold that the current period has passed causes an alert at once. 400
 * `invalid_request`; 409 `edit_conflict` if `version` isn't that of the stored settings.
 */
export function changeAlertSettingsEndpoint({ transact }: { transact: Transact }): RequestHandler {
  return async (req, res) => {
    const { limits = {}, version, ...rest } = bodyOf(req, alertSettingsSchema);
    const wanted = { ...rest, limits };
    const { account_id, actor } = signedIn(res);
    await transact(async (query) => {
      await lockAccount(query, account_id);
      const stored = await findAlertSettings(query, account_id);
      if (version !== undefined && version !== versionOf(stored)) throw new Problem('edit_conflict');
      await storeAlertSettings(query, account_id, wanted);
      const entry = { ...actor, account_id, application_id: null };
      await recordAudit(query, { ...entry, action: 'alert_settings_changed', details: wanted });
    });
    res.json(answer(wanted));
  };
}

function answer(settings: AlertSettings) {
  return { ...settings, version: versionOf(settings) };
}
