import { describe, expect, test } from '@jest/globals';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { freePort } from '@tollgate/stack/ports';
import { withClient } from '@tollgate/stack/postgres';
import { waitFor } from '@tollgate/stack/wait-for';
import { eventually, obtainToken, postGraphql, postToken, tokenFields } from '../caller.ts';
import { operate } from '../operate.ts';
import type { ProcessStack } from '../stack/processes.ts';

const QUERY = '{ country(code: "PT") { name } }';
const RECOVERY_MS = 30_000;

type Readiness = { status: number; checks: { redis?: string; postgres?: string } };

const becomes = (url: string, isSo: (readiness: Readiness) => boolean) =>
  eventually(
    async () => {
      const response = await fetch(`${url}/health/ready`);
      const { checks } = (await response.json()) as Pick<Readiness, 'checks'>;
      return { status: response.status, checks };
    },
    isSo,
    RECOVERY_MS,
  );

const isReady = ({ status }: Readiness) => status === 200;

/** Stores that keep their connections and refuse writes: a demoted primary, a master that has become a replica. */
export function readOnlyStores(stack: () => ProcessStack): void {
  describe('stores that become read-only', () => {
    test('Redis becomes a replica: no service is ready, calls get 503, and all of it comes back', async () => {
      const { demo, redisUrl } = stack();
      const token = await obtainToken(demo, demo.application);
      const redis = openRedis(redisUrl, createLogger('e2e', 'silent'));
      await waitFor(() => redis.status === 'ready');
      const urls = [demo.private.auth_url, demo.private.gateway_url, demo.private.account_url];
      await redis.replicaof('127.0.0.1', await freePort());
      try {
        for (const url of urls) {
          // In between the service connects anew, and is unready for that.
          await becomes(
            url,
            ({ status, checks }) => status === 503 && checks.redis === 'Redis takes no writes: READONLY',
          );
        }
        expect((await postGraphql(demo, token, QUERY)).status).toBe(503);
        expect((await postToken(demo.auth_url, tokenFields(demo.application))).status).toBe(503);
      } finally {
        await redis.replicaof('NO', 'ONE');
        redis.disconnect();
      }
      for (const url of urls) await becomes(url, isReady);
      const again = await obtainToken(demo, demo.application);
      expect((await postGraphql(demo, again, QUERY)).status).toBe(200);
    });

    test('Postgres becomes read-only: account is not ready, writes get 503, and work again by themselves', async () => {
      const { demo, postgresUrl } = stack();
      const path = `/private/applications/${String(demo.application.application_id)}/tokens`;
      const create = () => operate(demo, 'POST', path, { name: 'during a switch-over' });
      const setReadOnly = (value: 'on' | 'off') =>
        withClient(postgresUrl, async (client) => {
          await client.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
          await client.query('SELECT pg_reload_conf()');
        });
      await setReadOnly('on');
      try {
        const { checks } = await becomes(demo.private.account_url, ({ status }) => status === 503);
        expect(checks.postgres).toBe('Postgres is read-only.');
        await expect(create()).rejects.toThrow('503');
      } finally {
        await setReadOnly('off');
      }
      await becomes(demo.private.account_url, isReady);
      await create();
    });
  });
}
