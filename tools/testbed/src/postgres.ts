import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@tollgate/stack/ports';
import { startPostgres as start, withClient } from '@tollgate/stack/postgres';
import type { Postgres, PostgresOptions } from '@tollgate/stack/postgres';
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
  const server = await start(options);
  await migrate(server.url, directory);
  return ownPostgres(server, options);
}

/** A primary, and a standby that streams from it. Their users and passwords are the same. */
export async function startPostgresPair(): Promise<{ primary: OwnPostgres; standby: OwnPostgres }> {
  const directory = runDirectory();
  const options = { ...(await clusterOptions(directory)), database: 'tollgate' };
  const first = await start(options);
  await migrate(first.url, directory);
  const copyOptions = {
    ...(await clusterOptions(directory)),
    password: options.password,
    database: 'tollgate',
  };
  const second = await start(copyOptions);
  const [original, copy] = await Promise.all([dataDirectory(first.url), dataDirectory(second.url)]);
  // What a clean shutdown leaves is a base backup.
  await Promise.all([first.stop(), second.stop()]);
  await rm(copy, { recursive: true });
  await promisify(execFile)('cp', ['--archive', original, copy]);
  const conninfo = `host=127.0.0.1 port=${String(options.port)} user=postgres password=${options.password}`;
  await appendFile(join(copy, 'postgresql.auto.conf'), `primary_conninfo = '${conninfo}'\n`);
  await promisify(execFile)('cp', ['--archive', join(copy, 'PG_VERSION'), join(copy, 'standby.signal')]);
  const primary = ownPostgres(await start(options), options);
  return { primary, standby: ownPostgres(await start(copyOptions), copyOptions) };
}

async function dataDirectory(url: string): Promise<string> {
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
