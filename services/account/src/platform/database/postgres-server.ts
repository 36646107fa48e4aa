import { checkServerIdentity } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';
import pg from 'pg';
import type { StoreTls } from '@tollgate/config/store-tls';
import { parseDatabaseUrl } from './database-url.ts';
import type { DatabaseAddress, PostgresEndpoint } from './database-url.ts';
import { sessionOptions } from './session-settings.ts';

/** Of pg.ClientConfig. The time limit is for the whole connection, up to its first statement. */
type ConnectionLimits = Pick<
  pg.ClientConfig,
  | 'application_name'
  | 'statement_timeout'
  | 'lock_timeout'
  | 'idle_in_transaction_session_timeout'
  | 'query_timeout'
  | 'types'
> & { connectTimeoutMs: number };

/** The Postgres that DATABASE_URL names, for all pools of a process (docs/design/stores.md). */
export type PostgresServer = {
  /** Of several hosts, the one that takes writes. @throws {Error} naming each host, and what came of it */
  connect: (limits: ConnectionLimits) => Promise<pg.Client>;
  /** False once the connection broke, or leads to a server that has become read-only. */
  isUsable: (client: pg.Client) => boolean;
  /** Takes note of a failed statement: its connection, or all of them, may have to be replaced. */
  noteError: (client: pg.Client, error: unknown) => void;
  /** No pool uses a connection again that is open now. */
  replaceConnections: () => void;
  /** After this age a connection is replaced. */
  connectionMaxAgeMs: number;
};

/** SQLSTATEs of a connection that is of no more use: lost (08), or ended by its server (57P01 to 57P03, 57P05). */
const LOST = /^(08|57P0[1235])/;
const READ_ONLY = '25006';

/** A server that stays read-only must not cost a new connection for each statement. */
const REPLACE_INTERVAL_MS = 1_000;

/** As CONNECTION_MAX_AGE_MS. */
const DEFAULT_MAX_AGE_MS = 300_000;

export function createPostgresServer(options: {
  url: string;
  tls?: StoreTls;
  connectionMaxAgeMs?: number;
}): PostgresServer {
  const { url, tls = {}, connectionMaxAgeMs = DEFAULT_MAX_AGE_MS } = options;
  const address = parseDatabaseUrl(url);
  const openedMs = new WeakMap<pg.Client, number>();
  let replacedMs = -Infinity;
  let primary: PostgresEndpoint | undefined;

  async function open(endpoint: PostgresEndpoint, limits: ConnectionLimits): Promise<pg.Client> {
    const client = await openClient(endpoint, { address, tls, limits });
    const end = () => openedMs.delete(client);
    client.on('error', end);
    client.on('end', end);
    openedMs.set(client, performance.now());
    primary = endpoint;
    return client;
  }

  async function connectToAny(limits: ConnectionLimits): Promise<pg.Client> {
    const attempts = address.endpoints.map((endpoint) => open(endpoint, limits));
    const first = await Promise.any(attempts).catch((error: unknown) => {
      throw unreachable(error instanceof AggregateError ? error.errors : [error]);
    });
    for (const attempt of attempts) {
      void attempt.then(
        (client) => (client === first ? undefined : client.end()),
        () => undefined,
      );
    }
    return first;
  }

  function replaceConnections(): void {
    const nowMs = performance.now();
    if (nowMs - replacedMs < REPLACE_INTERVAL_MS) return;
    replacedMs = nowMs;
    primary = undefined;
  }

  return {
    connectionMaxAgeMs,
    connect: async (limits) => {
      const known = primary;
      if (known === undefined || address.endpoints.length === 1) return connectToAny(limits);
      try {
        return await open(known, limits);
      } catch {
        primary = undefined;
        return connectToAny(limits);
      }
    },
    isUsable: (client) => (openedMs.get(client) ?? -Infinity) > replacedMs,
    noteError: (client, error) => {
      if (!(error instanceof pg.DatabaseError) || error.code === undefined) return;
      if (LOST.test(error.code)) openedMs.delete(client);
      if (error.code === READ_ONLY) replaceConnections();
    },
    replaceConnections,
  };
}

async function openClient(
  { host, port }: PostgresEndpoint,
  {
    address,
    tls,
    limits: { connectTimeoutMs, ...limits },
  }: { address: DatabaseAddress; tls: StoreTls; limits: ConnectionLimits },
): Promise<pg.Client> {
  const client = new pg.Client({
    host,
    port,
    user: address.user,
    password: address.password,
    database: address.database,
    ssl: tlsOptions(address, tls) ?? false,
    ...(address.tlsAtOnce ? { sslnegotiation: 'direct' } : {}),
    options: sessionOptions(address.options),
    ...(address.applicationName === undefined ? {} : { application_name: address.applicationName }),
    ...limits,
    keepAlive: true,
  });
  // A lost connection is reported by the next statement.
  client.on('error', () => undefined);
  const timer = setTimeout(() => {
    client.connection.stream.destroy(new Error(`no answer within ${String(connectTimeoutMs)} ms`));
  }, connectTimeoutMs);
  try {
    await client.connect();
    if (address.mustTakeWrites && (await leadsToReadOnly(client))) throw new Error('it is read-only');
    return client;
  } catch (error) {
    client.connection.stream.destroy();
    // Without `cause`, of which logs would repeat the message.
    // eslint-disable-next-line preserve-caught-error
    throw new Error(`Postgres at ${host}:${String(port)}: ${messageOf(error)}`);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a server refuses writes: a standby, or one that has been set so, as before a switch-over. */
export async function isReadOnly(
  select: (sql: string) => Promise<{ transaction_read_only: string }[]>,
): Promise<boolean> {
  const [row] = await select('SHOW transaction_read_only');
  return row?.transaction_read_only !== 'off';
}

/** The same, asked on a connection of its own. */
export function leadsToReadOnly(client: pg.Client): Promise<boolean> {
  return isReadOnly(async (sql) => (await client.query<{ transaction_read_only: string }>(sql)).rows);
}

function unreachable(errors: readonly unknown[]): Error {
  const [error] = errors;
  if (errors.length === 1 && error instanceof Error) return error;
  return new Error(errors.map(messageOf).join('; '));
}

/** Where a name has several addresses, Node.js' error has no message of its own. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '') return error.errors.map(messageOf).join(', ');
  return error instanceof Error ? error.message : 'unknown';
}

/** Undefined without TLS. */
function tlsOptions({ tlsMode }: DatabaseAddress, tls: StoreTls): ConnectionOptions | undefined {
  const { serverName, ...credentials } = tls;
  const isAsked = Object.values(tls).some((value) => value !== undefined);
  const mode = tlsMode ?? (isAsked ? 'verify-full' : 'disable');
  if (mode === 'disable') return undefined;
  if (mode === 'no-verify') return { ...credentials, rejectUnauthorized: false };
  if (mode === 'verify-ca') return { ...credentials, checkServerIdentity: () => undefined };
  if (serverName === undefined) return credentials;
  // pg overwrites `servername`.
  return { ...credentials, checkServerIdentity: (_host, cert) => checkServerIdentity(serverName, cert) };
}
