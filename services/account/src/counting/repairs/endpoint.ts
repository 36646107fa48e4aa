import type { RequestHandler } from 'express';
import { z } from 'zod';
import { bodyOf } from '../../http/input/json-body.ts';
import { operatorOf } from '../../platform/audit/operator-actor.ts';
import type { RepairUsage } from './repair.ts';

const repairSchema = z.strictObject({
  restored: z.boolean('must be true or false').optional(),
});

/**
 * `POST /private/usage-repairs` with `{restored?}` for operators: 200 `{checked_streams, rolled_back_streams,
 * reset_streams, repaired_periods, recovered, ids_skipped}` (ADR 0065). `restored: true` states that Postgres was
 * restored from a backup, so that ids assigned after the backup are not assigned again. Safe to repeat. 503
 * `service_unavailable` without Redis or Postgres; streams repaired before stay repaired.
 */
export function usageRepairEndpoint(repairUsage: RepairUsage): RequestHandler {
  return async (req, res) => {
    const { restored = false } = bodyOf(req, repairSchema);
    res.json(await repairUsage({ restored }, operatorOf(req, res)));
  };
}
