import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { usageSnapshotSchema } from '@tollgate/contracts/usage-stream';
import { Problem } from '@tollgate/http/problem';
import { operation } from '@tollgate/operation';
import type { Chapter } from '@tollgate/operation';
import { idQueryField } from '../../http/input/fields.ts';
import { idParameter } from '../../http/input/id-parameter.ts';
import { service } from '../../platform/audit/private-callers.ts';
import type { Query } from '../../platform/database/query.ts';
import { findUsageSnapshot } from './usage-snapshot.ts';

type Needs = { query: Query };

/** How long a request waits while the payer moves to another lane, and how often it looks. */
const MOVED_WITHIN_MS = 2_000;
const LOOK_MS = 50;

export const serviceSnapshots = {
  title: 'Usage snapshots',
  description: 'For gateways, which build live counters from them.',
  operations: [
    operation('GET /private/usage-snapshots/{period_id}', {
      operationId: 'getUsageSnapshot',
      summary: "Get a billing period's usage and stream position of one moment",
      description:
        "The last counted entry is that of the payer's stream. With `application_id` or `account_id`, also what these " +
        'have spent.',
      caller: service,
      params: z.object({ period_id: idParameter }),
      query: z.strictObject({ application_id: idQueryField.optional(), account_id: idQueryField.optional() }),
      answers: { 200: { description: 'The snapshot.', schema: usageSnapshotSchema } },
      handle: async ({ query: read }: Needs, { params: { period_id }, query }) => {
        const untilMs = performance.now() + MOVED_WITHIN_MS;
        for (;;) {
          const snapshot = await findUsageSnapshot(read, period_id, query);
          if (snapshot === undefined) throw new Problem('not_found');
          if (snapshot !== 'moving') return snapshot;
          if (performance.now() >= untilMs) throw new Problem('service_unavailable');
          await delay(LOOK_MS);
        }
      },
    }),
  ],
} satisfies Chapter;
