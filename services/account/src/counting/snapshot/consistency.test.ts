import { expect, test } from '@jest/globals';
import {
  usageShard,
  usageSnapshotSchema,
  usageStreamKey,
  usageTrimmedKey,
} from '@tollgate/contracts/usage-stream';
import type { UsageBatch } from '@tollgate/contracts/usage-stream';
import { waitFor } from '@tollgate/stack/wait-for';
import { startAccount } from '../../../test/suite/account-under-test.ts';
import { insertAccount, insertPeriod } from '../../../test/suite/database/records.ts';
import { getPrivate } from '../../../test/suite/requests.ts';
import { allCounted, appendBatch, usageEvent } from '../../../test/suite/usage/usage-streams.ts';
import { compareStreamIds, nextStreamId } from '../stream/stream-id.ts';

test('a snapshot and the entries after it are the usage at any moment, while it is written and counted', async () => {
  const suite = await startAccount({ settings: { USAGE_POLL_INTERVAL_MS: '1' } });
  try {
    const payer_id = await insertAccount(suite.database);
    const period_id = await insertPeriod(suite.database, payer_id);
    const event = usageEvent({ payer_id, account_id: payer_id, period_id });
    const [stream, trimmed] = [usageStreamKey(usageShard(payer_id)), usageTrimmedKey(usageShard(payer_id))];
    const over = new AbortController();
    let [begun, done] = [0, 0];
    const write = async () => {
      while (!over.signal.aborted) {
        begun += 1;
        await appendBatch(suite.store, [event]);
        done += 1;
      }
    };

    /** The usage as a gateway finds it; undefined where what it needs is trimmed already. */
    async function usage(): Promise<number | undefined> {
      const response = await getPrivate(suite.account, `/private/usage-snapshots/${String(period_id)}`);
      const { requests, stream_position } = usageSnapshotSchema.parse(await response.json());
      const answers = await suite.store
        .multi()
        .get(trimmed)
        .xrange(stream, nextStreamId(stream_position), '+')
        .exec();
      const trimmedTo = (answers?.[0]?.[1] as string | null) ?? '0-0';
      if (compareStreamIds(trimmedTo, stream_position) > 0) return undefined;
      const entries = answers?.[1]?.[1] as [string, [string, string]][];
      const batches = entries.map(([, [, json]]) => JSON.parse(json) as UsageBatch);
      return batches.reduce((sum, { events }) => sum + events.length, requests);
    }

    const writing = write();
    let [looks, stale] = [0, 0];
    await waitFor(
      async () => {
        const atLeast = done;
        const found = await usage();
        if (found === undefined) stale += 1;
        else {
          looks += 1;
          if (found < atLeast || found > begun)
            over.abort(`${String(found)}: not ${String(atLeast)} to ${String(begun)}`);
        }
        return over.signal.aborted || (looks >= 200 && stale > 0);
      },
      { intervalMs: 0, timeoutMs: 30_000 },
    );
    expect(over.signal.reason).toBeUndefined();
    over.abort();
    await writing;
    await allCounted(suite);
    expect(await usage()).toBe(done);
  } finally {
    await suite.close();
  }
});
