import { describe, expect, test } from '@jest/globals';
import type { UsageResponse } from '@tollgate/contracts/usage-response';
import {
  eventually,
  getUsage,
  obtainToken,
  postGraphql,
  postToken,
  tokenFields,
  settledUsage,
} from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

const QUERY = '{ country(code: "BR") { name } }';
const RECOVERY_MS = 30_000;

function ready(url: string): Promise<number> {
  return fetch(`${url}/health/ready`).then(
    (response) => response.status,
    () => 0,
  );
}

/** What a crash or a missing dependency does: 503 meanwhile, service by itself afterwards, usage exact. */
export function faults(stack: () => Stack): void {
  describe('faults', () => {
    test('kill -9 of account during 1,000 calls loses and doubles nothing', async () => {
      const { demo, kill, start } = stack();
      const token = await obtainToken(demo, demo.application);
      const before = (await settledUsage(demo, token)).billing_period.usage;
      let begun = 0;
      let refused = 0;
      const restarted = { done: Promise.resolve() };
      const caller = async () => {
        while (begun < 1_000) {
          begun += 1;
          if (begun === 300) restarted.done = kill('account').then(() => start('account'));
          // A call that account's absence refuses costs nothing; the caller comes back, as Retry-After says.
          for (;;) {
            const response = await postGraphql(demo, token, QUERY);
            await response.arrayBuffer();
            if (response.status === 200) break;
            expect(response.status).toBe(503);
            expect(response.headers.get('retry-after')).toMatch(/^\d+$/);
            refused += 1;
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
        }
      };
      await Promise.all(Array.from({ length: 10 }, caller));
      await restarted.done;
      const usage = async () => {
        const response = await getUsage(demo.account_url, token);
        if (response.status !== 200) return -1;
        const body = (await response.json()) as UsageResponse;
        return body.billing_period.usage.requests_usage - before.requests_usage;
      };
      expect(await eventually(usage, (requests) => requests >= 1_000, RECOVERY_MS)).toBe(1_000);
      console.info(`1,000 calls answered, ${String(refused)} refused with 503 while account was away`);
    });

    test('Redis away: not ready, calls get 503, and all of it comes back', async () => {
      const { demo, kill, start } = stack();
      const token = await obtainToken(demo, demo.application);
      expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
      await kill('redis');
      try {
        for (const url of [demo.private.auth_url, demo.private.gateway_url, demo.private.account_url]) {
          await eventually(
            () => ready(url),
            (status) => status === 503,
            RECOVERY_MS,
          );
        }
        const call = await postGraphql(demo, token, QUERY);
        expect([call.status, call.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
        expect(await call.json()).toMatchObject({
          errors: [{ extensions: { code: 'service_unavailable' } }],
        });
        const grant = await postToken(demo.auth_url, tokenFields(demo.application));
        expect([grant.status, grant.headers.get('retry-after')]).toEqual([
          503,
          expect.stringMatching(/^\d+$/),
        ]);
      } finally {
        await start('redis');
      }
      for (const url of [demo.private.auth_url, demo.private.gateway_url, demo.private.account_url]) {
        await eventually(
          () => ready(url),
          (status) => status === 200,
          RECOVERY_MS,
        );
      }
      const again = await obtainToken(demo, demo.application);
      expect((await postGraphql(demo, again, QUERY)).status).toBe(200);
    });

    test('Postgres away: the usage is 503, and comes back by itself', async () => {
      const { demo, kill, start } = stack();
      const token = await obtainToken(demo, demo.application);
      expect((await getUsage(demo.account_url, token)).status).toBe(200);
      await kill('postgres');
      try {
        await eventually(
          () => ready(demo.private.account_url),
          (status) => status === 503,
          RECOVERY_MS,
        );
        const usage = await getUsage(demo.account_url, token);
        expect([usage.status, usage.headers.get('retry-after')]).toEqual([
          503,
          expect.stringMatching(/^\d+$/),
        ]);
        expect(await usage.json()).toMatchObject({ code: 'service_unavailable' });
      } finally {
        await start('postgres');
      }
      await eventually(
        async () => (await getUsage(demo.account_url, token)).status,
        (status) => status === 200,
        RECOVERY_MS,
      );
    });

    test('auth away: an unknown token is 503, never 401', async () => {
      const { demo, kill, start } = stack();
      const token = await obtainToken(demo, demo.application);
      await kill('auth');
      try {
        const call = await postGraphql(demo, token, QUERY);
        expect([call.status, call.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^\d+$/)]);
        expect((await getUsage(demo.account_url, token)).status).toBe(503);
        const grant = await postToken(demo.streaming_url, tokenFields(demo.application));
        expect(grant.status).toBe(503);
      } finally {
        await start('auth');
      }
      expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
    });

    test('a killed gateway serves again after its restart', async () => {
      const { demo, kill, start } = stack();
      const token = await obtainToken(demo, demo.application);
      await kill('gateway');
      await start('gateway');
      expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
    });
  });
}
