import type { RequestHandler } from 'express';
import { recordAudit } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { bodyOf } from '../../http/input/json-body.ts';
import { signedIn } from '../../identity/sessions/require-session.ts';
import { alertSettingsSchema } from './input.ts';
import { findAlertSettings, storeAlertSettings } from './settings-store.ts';

/**
 * `GET /api/console/alerts`: 200 `{mail, shares, limits}`: whether alerts come by mail too, the shares in whole
 * percents at which they come, and by limit (`points_limit, time_sec_limit, traffic_bytes_limit, team_slots_limit`)
 * the shares of those that have their own. Of the periods that one pays for, a team's included. 401; 503.
 */
export function alertSettingsEndpoint({ query }: { query: Query }): RequestHandler {
  return async (_req, res) => {
    res.json(await findAlertSettings(query, signedIn(res).account_id));
  };
}

/**
 * `PUT /api/console/alerts` with `{mail, shares, limits}`: 200, the settings, all of which are replaced. A list of
 * shares has at most 10, each once, from 1 to 100; an empty one means no alert; `limits` may be left out. A share
 * that the present period has passed already, and that it had no alert of, is told at once. 400 `invalid_request`
 * naming all faulty members.
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
