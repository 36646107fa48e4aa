import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { startPostgres as start } from '@tollgate/stack/postgres';
import type { PostgresOptions } from '@tollgate/stack/postgres';
import { runDirectory } from './config.ts';
import { migrate } from './database.ts';
import { newDirectory, register } from './run.ts';
import { signalTree } from './signal-tree.ts';

export type OwnPostgres = {
  /** A migrated, empty database; the address stays valid over kill, stop and restart. */
  url: string;
  stop: () => Promise<void>;
  /** SIGKILL. */
  kill: () => Promise<void>;
  /** SIGSTOP of the server and its sessions: they keep their connections and answer nothing, until they go on. */
  freeze: () => void;
  /** SIGCONT. */
  thaw: () => void;
  /** Starts it again on its data; resolves when it answers. */
  restart: () => Promise<void>;
};

/** A Postgres server of its own (some two seconds), for suites that take it away. Others use createDatabase. */
export async function startPostgres(): Promise<OwnPostgres> {
  const directory = runDirectory();
  const options = { ...(await clusterOptions(directory)), database: 'tollgate' };
  let server = await start(options);
  await migrate(server.url, directory);
  return {
    url: server.url,
    stop: () => server.stop(),
    kill: async () => {
      await server.process.stop({ signal: 'SIGKILL' });
    },
    freeze: () => {
      signalTree(server.process.identity.pid, 'SIGSTOP');
    },
    thaw: () => {
      signalTree(server.process.identity.pid, 'SIGCONT');
    },
    restart: async () => {
      server = await start(options);
    },
  };
}

/** A new cluster below a run's directory; fast rather than safe against a power cut. */
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
