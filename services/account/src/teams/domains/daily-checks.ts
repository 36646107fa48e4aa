import type { Logger } from '@tollgate/log';
import { startRounds } from '@tollgate/server/background-loop';
import type { BackgroundLoop } from '@tollgate/server/background-loop';
import type { AttemptCounts } from '../../identity/attempts/attempt-counts.ts';
import type { Actor } from '../../platform/audit/audit-log.ts';
import type { Query, Transact } from '../../platform/database/query.ts';
import { noteCheck } from './changes.ts';
import { challengeRecord } from './domain-name.ts';
import type { CheckRecord } from './record-check.ts';
import { questionLimit } from './question-limit.ts';
import { takeDueCheck } from './store.ts';

const DOMAIN_CHECK: Actor = { actor: 'domain-check', address: 'none', request_id: 'none' };

/** Asks for the record of each proven domain once a day. Every replica may run it: one takes a domain. */
export function startDailyChecks(options: {
  query: Query;
  transact: Transact;
  counts: Pick<AttemptCounts, 'take'>;
  checkRecord: CheckRecord;
  intervalSec: number;
  wakeMails: () => void;
  logger: Pick<Logger, 'warn'>;
}): Pick<BackgroundLoop, 'close'> {
  const { query, transact, counts, checkRecord, intervalSec, wakeMails, logger } = options;
  return startRounds(intervalSec * 1_000, async (signal) => {
    try {
      while (!signal.aborted) {
        const due = await takeDueCheck(query);
        if (due === undefined) break;
        const { exceeded } = await counts.take([questionLimit(due)]);
        // The manager is asking in this moment, which is as good.
        if (exceeded.length > 0) continue;
        const check = await checkRecord({ domain: due.domain, ...challengeRecord(due) });
        await transact((inside) => noteCheck(inside, due, check, DOMAIN_CHECK));
        wakeMails();
      }
    } catch (error) {
      logger.warn({ err: error }, 'a domain could not be checked; retrying at the next interval');
    }
  });
}
