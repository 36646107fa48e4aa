import type { Registry } from 'prom-client';
import type { Logger } from '@tollgate/log';
import type { Config } from '../config.ts';
import { openDatabase } from '../platform/database/database.ts';
import type { PostgresServer } from '../platform/database/postgres-server.ts';
import { createQuery } from '../platform/database/query.ts';
import { startLiveFeeds } from '../usage/live/feeds.ts';
import type { LiveFeeds } from '../usage/live/feeds.ts';
import { DATABASE_POOLS } from '../platform/database/pools.ts';

export function openLiveUsage(options: {
  config: Pick<Config, 'SESSION_IDLE_TIMEOUT_SEC' | 'SESSION_LIFETIME_SEC'>;
  server: PostgresServer;
  logger: Logger;
  registry: Registry;
}): LiveFeeds {
  const { config, server, logger, registry } = options;
  const database = openDatabase({ server, logger, ...DATABASE_POOLS.liveUsage });
  const lifetimes = {
    idleTimeoutSec: config.SESSION_IDLE_TIMEOUT_SEC,
    lifetimeSec: config.SESSION_LIFETIME_SEC,
  };
  const feeds = startLiveFeeds({ query: createQuery(database), lifetimes, logger, registry });
  return {
    ...feeds,
    close: async () => {
      await feeds.close();
      await database.destroy();
    },
  };
}
