import type { RequestHandler } from 'express';
import { z } from 'zod';
import { Problem } from '@tollgate/http/problem';
import { idParameter } from '../../http/input/id-parameter.ts';
import type { Query } from '../../platform/database/query.ts';
import { findUsageSnapshot } from './usage-snapshot.ts';

const paramsSchema = z.object({ period_id: idParameter });

/**
 * `GET /private/usage-snapshots/{period_id}`: a period's usage and stream position of one moment (docs/design/settlement.md). 200 with
 * a UsageSnapshot; 404 `not_found`; 503 while Postgres is unavailable.
 */
export function usageSnapshotEndpoint(query: Query): RequestHandler {
  return async (req, res) => {
    const params = paramsSchema.safeParse(req.params);
    const snapshot = params.success ? await findUsageSnapshot(query, params.data.period_id) : undefined;
    if (snapshot === undefined) throw new Problem('not_found');
    res.json(snapshot);
  };
}
