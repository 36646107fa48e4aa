import { z } from 'zod';
import { usageSnapshotSchema } from '@tollgate/contracts/usage-stream';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { idParameter } from '../../http/input/id-parameter.ts';
import { service } from '../../platform/audit/private-callers.ts';
import type { Query } from '../../platform/database/query.ts';
import { findUsageSnapshot } from './usage-snapshot.ts';

export const serviceSnapshots = {
  title: 'Usage snapshots',
  description: 'For gateways, which build live counters from them.',
  operations: [
    operation('GET /private/usage-snapshots/{period_id}', {
      operationId: 'getUsageSnapshot',
      summary: "Get a billing period's usage and stream position of one moment",
      description: "The last counted entry is that of the payer's stream.",
      caller: service,
      params: z.object({ period_id: idParameter }),
      answers: { 200: { description: 'The snapshot.', schema: usageSnapshotSchema } },
      handle: async ({ query }: { query: Query }, { params: { period_id } }) => {
        const snapshot = await findUsageSnapshot(query, period_id);
        if (snapshot === undefined) throw new Problem('not_found');
        return snapshot;
      },
    }),
  ],
} satisfies Chapter;
