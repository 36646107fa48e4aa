import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startPostgres, withClient } from '@tollgate/stack/postgres';
import { findRedis } from '@tollgate/stack/redis-program';
import { announceRunDirectory } from './config.ts';
import { TEMPLATE, databaseUrl, migrate } from './database.ts';
import { clusterOptions } from './postgres.ts';
import { createRunDirectory, endAbandonedRuns, endRun, register, writeRun } from './run.ts';

/** One Postgres with a migrated template for suites to clone. Suites start their own Redis processes. */
export default async function setUp(): Promise<void> {
  await endAbandonedRuns();
  const directory = await createRunDirectory();
  announceRunDirectory(directory);
  endOnSignals(directory);
  try {
    mkdirSync(join(directory, 'logs'));
    const [postgres, redisProgram] = await Promise.all([
      startTemplateServer(directory),
      findRedis({ logFile: join(directory, 'logs/find-redis.log'), onSpawn: register(directory) }),
    ]);
    await writeRun(directory, { postgresUrl: postgres, redisProgram });
  } catch (error) {
    await endRun(directory);
    throw error;
  }
}

async function startTemplateServer(directory: string): Promise<string> {
  const { url } = await startPostgres(await clusterOptions(directory));
  await withClient(url, (client) => client.query(`CREATE DATABASE ${TEMPLATE}`));
  await migrate(databaseUrl(url, TEMPLATE), directory);
  // A template with a session on it can't be cloned.
  await withClient(url, (client) => client.query(`ALTER DATABASE ${TEMPLATE} ALLOW_CONNECTIONS false`));
  return url;
}

/** Jest doesn't call the global teardown when a signal ends it. */
function endOnSignals(directory: string): void {
  const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 };
  let ending = false;
  for (const [signal, code] of Object.entries(signals)) {
    process.on(signal, () => {
      if (ending) return;
      ending = true;
      void endRun(directory).finally(() => process.exit(code));
    });
  }
}
