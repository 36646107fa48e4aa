import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { postgresDirectory } from './postgres-binaries.ts';
import { dataHome, initialise, removeStrangersLock } from './postgres-data.ts';
import { postgresUser } from './postgres-user.ts';
import { describeExit, logTail, startProcess } from '../process.ts';
import type { ManagedProcess, OnSpawn } from '../process.ts';
import { waitFor } from '../wait-for.ts';

export { removePostgresData } from './postgres-data.ts';

export type PostgresOptions = {
  dataDir: string;
  port: number;
  /** The superuser's; set when the cluster is created, and fixed from then on. */
  password: string;
  logFile: string;
  database?: string;
  /** False trades safety on a power failure (not on a crash) for speed, for suites. */
  durable?: boolean;
  maxConnections?: number;
  onSpawn?: OnSpawn;
};

export type Postgres = {
  url: string;
  process: ManagedProcess;
  stop: () => Promise<void>;
};

/** Postgres' "fast shutdown" ends sessions and keeps what is committed. */
export const POSTGRES_STOP_SIGNAL = 'SIGINT';

const INVALID_PASSWORD = '28P01';
const START_TIME_LIMIT_MS = 60_000;
const SHARED_MEMORY_TIME_LIMIT_MS = 10_000;

/** @throws {Error} with the log's last lines if it doesn't answer queries */
export async function startPostgres(options: PostgresOptions): Promise<Postgres> {
  const { dataDir, port, password, logFile, durable = true } = options;
  const user = postgresUser();
  const binaries = await postgresDirectory(user);
  const home = await dataHome(dataDir, user);
  const { onSpawn } = options;
  const cluster = await initialise({ home, binaries, user, password, logFile, durable, onSpawn });
  await removeStrangersLock(cluster, isPostgres);

  const start = () =>
    startProcess({
      name: 'postgres',
      command: join(binaries, 'bin/postgres'),
      args: ['-D', cluster, ...serverSettings(options)],
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
      cwd: home,
      logFile,
      user,
      onSpawn,
    });
  const { database = 'postgres' } = options;
  const server = await untilItAnswers(start, urlOf(port, password, 'postgres'));
  try {
    await ensureDatabase(urlOf(port, password, 'postgres'), database);
  } catch (error) {
    await server.stop({ signal: POSTGRES_STOP_SIGNAL });
    throw error;
  }
  return {
    url: urlOf(port, password, database),
    process: server,
    stop: async () => {
      await server.stop({ signal: POSTGRES_STOP_SIGNAL, timeLimitMs: 30_000 });
    },
  };
}

function serverSettings({ port, durable = true, maxConnections = 100 }: PostgresOptions): string[] {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    // Without a socket file there is no directory that needs permissions.
    unix_socket_directories: '',
    max_connections: String(maxConnections),
    // By default pg_stat_activity cuts a statement at 1024 bytes.
    track_activity_query_size: '8kB',
    timezone: 'UTC',
    log_timezone: 'UTC',
    ...(durable ? {} : { fsync: 'off', full_page_writes: 'off', max_wal_size: '256MB' }),
  };
  return Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
}

async function untilItAnswers(start: () => Promise<ManagedProcess>, url: string): Promise<ManagedProcess> {
  const retryUntil = performance.now() + SHARED_MEMORY_TIME_LIMIT_MS;
  for (;;) {
    const server = await start();
    try {
      await waitFor(() => server.hasExited() || answers(url), {
        timeoutMs: START_TIME_LIMIT_MS,
        intervalMs: 50,
        what: 'Postgres to answer',
      });
    } catch (error) {
      await server.stop({ signal: 'SIGQUIT' });
      throw new Error(`Postgres doesn't answer.\n${logTail(server.logFile)}`, { cause: error });
    }
    if (!server.hasExited()) return server;
    const tail = logTail(server.logFile);
    // A killed server's sessions outlive it for a moment and hold its shared memory.
    if (!tail.includes('is still in use') || performance.now() > retryUntil) {
      throw new Error(`Postgres ended with ${describeExit(await server.exited)}.\n${tail}`);
    }
    await delay(200);
  }
}

/** A wrong password counts as an answer, because retrying doesn't help. */
async function answers(url: string): Promise<boolean> {
  try {
    await withClient(url, (client) => client.query('SELECT 1'));
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError && error.code === INVALID_PASSWORD;
  }
}

async function ensureDatabase(url: string, name: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}`);
  });
}

export async function withClient<T>(url: string, use: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  // The next statement reports a lost connection.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await use(client);
  } finally {
    await client.end();
  }
}

function urlOf(port: number, password: string, database: string): string {
  return `postgres://postgres:${encodeURIComponent(password)}@127.0.0.1:${String(port)}/${database}`;
}

function isPostgres(pid: number): boolean {
  try {
    return (
      readFileSync(`/proc/${String(pid)}/cmdline`, 'utf8')
        .split('\0')[0]
        ?.endsWith('postgres') ?? false
    );
  } catch {
    // Without /proc, Postgres decides by itself.
    return true;
  }
}
