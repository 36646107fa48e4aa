import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startPostgres, withClient } from '@tollgate/stack/postgres';
import { findRedis } from '@tollgate/stack/redis-program';
import { announceRunDirectory } from './config.ts';
import { TEMPLATE, databaseUrl, migrate } from './database.ts';
import { CLUSTER_DATABASE, clusterOptions, dataDirectory } from './postgres.ts';
import { createRunDirectory, endAbandonedRuns, endRun, register, writeRun } from './run.ts';
import type { Run } from './run.ts';

/** One Postgres with a migrated template for suites to clone, and a stopped one to copy. Suites start their own Redis processes. */
export default async function setUp(): Promise<void> {
  await endAbandonedRuns();
  const directory = await createRunDirectory();
  announceRunDirectory(directory);
  endOnSignals(directory);
  try {
    mkdirSync(join(directory, 'logs'));
    const [postgres, redisProgram] = await Promise.all([
      startTemplates(directory),
      findRedis({ logFile: join(directory, 'logs/find-redis.log'), onSpawn: register(directory) }),
    ]);
    await writeRun(directory, { ...postgres, redisProgram });
  } catch (error) {
    await endRun(directory);
    throw error;
  }
}

/** What is migrated once: a cluster that startPostgres copies, and a database in one that createDatabase clones. */
async function startTemplates(directory: string): Promise<Omit<Run, 'redisProgram'>> {
  const options = { ...(await clusterOptions(directory)), database: CLUSTER_DATABASE };
  const first = await startPostgres(options);
  await migrate(first.url, directory);
  const cluster = await dataDirectory(first.url);
  await first.stop();
  const clusterTemplate = join(directory, 'cluster-template');
  await promisify(execFile)('cp', ['--archive', cluster, clusterTemplate]);
  const { url } = await startPostgres(options);
  const server = databaseUrl(url, 'postgres');
  await withClient(server, (client) =>
    client.query(`CREATE DATABASE ${TEMPLATE} TEMPLATE ${CLUSTER_DATABASE}`),
  );
  // A template with a session on it can't be cloned.
  await withClient(server, (client) => client.query(`ALTER DATABASE ${TEMPLATE} ALLOW_CONNECTIONS false`));
  return { postgresUrl: server, clusterTemplate };
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
