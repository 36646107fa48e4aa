import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@tollgate/stack/ports';
import { startPostgres as start, withClient } from '@tollgate/stack/postgres';
import type { Postgres, PostgresOptions } from '@tollgate/stack/postgres';
import { runDirectory } from './config.ts';
import { migrate } from './database.ts';
import { newDirectory, readRun, register } from './run.ts';
import { freezing } from './signal-tree.ts';

/** In each cluster, migrated. */
export const CLUSTER_DATABASE = 'tollgate';

export type OwnPostgres = {
  /** The address survives kill, stop and restart. */
  url: string;
  stop: () => Promise<void>;
  kill: () => Promise<void>;
  /** SIGSTOP of the server and its sessions: connections stay open and get no reply. */
  freeze: () => void;
  thaw: () => void;
  restart: () => Promise<void>;
};

/** A separate server, for suites that stop it. Others use createDatabase. */
export async function startPostgres(): Promise<OwnPostgres> {
  return await started(await copiedCluster());
}

/** A primary, and a standby that streams from it. Their users and passwords are the same. */
export async function startPostgresPair(): Promise<{ primary: OwnPostgres; standby: OwnPostgres }> {
  const [original, copy] = await Promise.all([copiedCluster(), copiedCluster()]);
  const { port, password } = original;
  const conninfo = `host=127.0.0.1 port=${String(port)} user=postgres password=${password}`;
  // What a clean shutdown has left is a base backup.
  const cluster = join(copy.dataDir, 'cluster');
  await appendFile(join(cluster, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  await promisify(execFile)('cp', [
    '--archive',
    join(cluster, 'PG_VERSION'),
    join(cluster, 'standby.signal'),
  ]);
  const primary = await started(original);
  return { primary, standby: await started(copy) };
}

/**
 * The run's cluster, stopped after its migration, to be copied: initdb and a migration take two seconds of CPU time.
 * Its password is that of all copies.
 */
async function copiedCluster(): Promise<PostgresOptions> {
  const { postgresUrl, clusterTemplate } = await readRun();
  const options = await clusterOptions(runDirectory());
  await promisify(execFile)('cp', ['--archive', clusterTemplate, join(options.dataDir, 'cluster')]);
  return { ...options, password: new URL(postgresUrl).password, database: CLUSTER_DATABASE };
}

async function started(options: PostgresOptions): Promise<OwnPostgres> {
  const server = await start(options);
  // Where Postgres' user can't reach the copy, its data lies elsewhere, and is new.
  if (!(await dataDirectory(server.url)).startsWith(options.dataDir))
    await migrate(server.url, runDirectory());
  return ownPostgres(server, options);
}

export async function dataDirectory(url: string): Promise<string> {
  return withClient(url, async (client) => {
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
    return rows[0]?.data_directory ?? '';
  });
}

function ownPostgres(started: Postgres, options: PostgresOptions): OwnPostgres {
  let server = started;
  return {
    url: server.url,
    stop: () => server.stop(),
    kill: async () => {
      await server.process.stop({ signal: 'SIGKILL' });
    },
    ...freezing(() => server.process.identity.pid),
    restart: async () => {
      server = await start(options);
    },
  };
}

export async function clusterOptions(directory: string): Promise<PostgresOptions> {
  return {
    dataDir: newDirectory(directory, 'postgres'),
    port: await freePort(),
    password: randomBytes(16).toString('hex'),
    logFile: join(directory, 'logs/postgres.log'),
    durable: false,
    maxConnections: 400,
    onSpawn: register(directory),
  };
}
