import { describe, expect, test } from '@jest/globals';
import { eventually, getUsage, obtainToken, postGraphql, settledUsage } from '../../caller.ts';
import type { UsageResponse } from '@tollgate/contracts/usage-response';
import { operate } from '../../operate.ts';
import type { Stack } from '../../stack/stack.ts';

const QUERY = '{ country(code: "IS") { name } }';
const RECOVERY_MS = 30_000;

type Gaps = { gaps: { cause: string; recovered: { requests: number } | null }[] };

/** Postgres goes back to a backup while Redis, the gateways and their callers go on. */
export function restoredPostgres(stack: () => Stack): void {
  describe('Postgres restored from a backup', () => {
    test('calls go on, the usage since the backup is taken back from Redis, and operators are told', async () => {
      const { demo, backUpPostgres, restorePostgres } = stack();
      const token = await obtainToken(demo, demo.application);
      const isAnswered = async () => {
        const response = await postGraphql(demo, token, QUERY);
        await response.arrayBuffer();
        return response.status === 200;
      };
      const usedOnce = async () => {
        const response = await getUsage(demo.account_url, token);
        if (response.status !== 200) return -1;
        return ((await response.json()) as UsageResponse).billing_period.usage.requests_usage;
      };
      expect(await isAnswered()).toBe(true);
      await settledUsage(demo, token);
      await backUpPostgres();
      await eventually(isAnswered, Boolean, RECOVERY_MS);
      for (let calls = 0; calls < 20; calls += 1) expect(await isAnswered()).toBe(true);
      await settledUsage(demo, token);
      // Once a later call is counted, these are trimmed from the stream: they would be counted again.
      const before = (await settledUsage(demo, token)).billing_period.usage.requests_usage;

      await restorePostgres();
      await eventually(isAnswered, Boolean, RECOVERY_MS);
      expect(await eventually(usedOnce, (requests) => requests > before, RECOVERY_MS)).toBe(before + 1);
      const { gaps } = await operate<Gaps>(demo, 'GET', '/private/usage-gaps?cause=postgres_set_back');
      expect(gaps.some(({ recovered }) => (recovered?.requests ?? 0) >= 20)).toBe(true);
      const check = await operate<{ differences: unknown[]; recent_gaps: number }>(
        ...([demo, 'POST', '/private/usage-checks', {}] as const),
      );
      expect(check.differences).toEqual([]);
      expect(check.recent_gaps).toBeGreaterThan(0);
    });
  });
}
