import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { RedisConnection } from '@tollgate/redis';
import { openEntryWatch } from '@tollgate/redis/await-entries';
import { openDatabase } from '../platform/database/database.ts';
import type { PostgresServer } from '../platform/database/postgres-server.ts';
import { createTransact } from '../platform/database/query.ts';
import { createRefusedCallMetrics, startRefusedCallReader } from '../refusals/reader.ts';
import { DATABASE_POOLS } from '../platform/database/pools.ts';

export function openRefusedCalls(parts: {
  server: PostgresServer;
  redis: RedisConnection;
  logger: Logger;
  registry: Registry;
}): { close: () => Promise<void> } {
  const { server, redis, logger, registry } = parts;
  const database = openDatabase({ server, logger, ...DATABASE_POOLS.refusedCalls });
  const reader = startRefusedCallReader({
    redis,
    watch: openEntryWatch(redis),
    transact: createTransact(database),
    logger,
    metrics: createRefusedCallMetrics(registry),
  });
  return {
    close: async () => {
      await reader.close();
      await database.destroy();
    },
  };
}
