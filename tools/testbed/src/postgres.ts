import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { startPostgres as start } from '@tollgate/stack/postgres';
import type { PostgresOptions } from '@tollgate/stack/postgres';
import { runDirectory } from './config.ts';
import { migrate } from './database.ts';
import { newDirectory, register } from './run.ts';
import { freezing } from './signal-tree.ts';

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

/** A separate server (some two seconds), for suites that stop it. Others use createDatabase. */
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
