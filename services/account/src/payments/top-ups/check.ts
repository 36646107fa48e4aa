import { lockHolder } from '../../billing/credits/store.ts';
import type { Query } from '../../platform/database/query.ts';
import { lockPack } from '../packs/store.ts';
import { findPointsLeft } from './points-left.ts';
import type { TaxMode } from '../settings.ts';
import { hasRoom, isTaxMissing } from './rules.ts';
import {
  checkAgainIn,
  findPending,
  findSpent,
  insertTopUp,
  isWaiting,
  lockSettings,
  sumProcessing,
  waitForNextMonth,
} from './store.ts';
import type { TopUpSettings } from './store.ts';
import { tellPaused } from './tell.ts';

/** Without usage, only time changes what is left. */
const RECHECK_MS = 3_600_000;

/** Stores an attempt if the account has too few points, may buy more, and none is pending. `query` is a transaction's. */
export async function checkTopUp(query: Query, accountId: number, tax: TaxMode): Promise<void> {
  if (!(await lockHolder(query, accountId))) return;
  const settings = await lockSettings(query, accountId);
  if (settings === undefined) return;
  await checkAgainIn(query, accountId, RECHECK_MS);
  if (!(await isWanted(query, settings)) || (await findPending(query, accountId)) !== undefined) return;
  const pack = await lockPack(query, settings.pack_id, 'SHARE');
  if (pack === undefined || pack.withdrawn_at !== null || isTaxMissing(pack, tax)) {
    await tellPaused(query, accountId, 'pack_withdrawn');
    return;
  }
  const { pack_id, name: pack_name, points, currency, unit_amount: amount, expires_after_days } = pack;
  if (!hasRoom(settings, await findSpent(query, accountId), amount)) {
    await waitForNextMonth(query, accountId);
    return;
  }
  const sold = { pack_id, pack_name, points, currency, amount, expires_after_days };
  await insertTopUp(query, { account_id: accountId, ...sold });
}

/** Payments that are on their way count as if they were granted. */
export async function isWanted(query: Query, settings: TopUpSettings): Promise<boolean> {
  const { account_id, is_on, paused_for, threshold_points } = settings;
  if (!is_on || paused_for !== null || (await isWaiting(query, account_id))) return false;
  const left = await findPointsLeft(query, account_id);
  return left !== undefined && left + (await sumProcessing(query, account_id)) < threshold_points;
}
