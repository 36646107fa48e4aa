import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import { freePort } from '@tollgate/stack/ports';
import { withClient } from '@tollgate/stack/postgres';
import { runCommand } from '@tollgate/stack/process';
import { localUrl } from '@tollgate/stack/service-settings';
import { waitFor } from '@tollgate/stack/wait-for';
import type { AuthPeer } from './auth-peer.ts';
import { fillTemplate, programDirectory, startProgram } from '../gateway/program.ts';
import { goProgram } from '../load/go-program.ts';
import type { GoProgram } from '../load/go-program.ts';
import { ORY_ENVIRONMENT, oryVersion } from './ory.ts';
import type { Servers } from '../servers.ts';

/** By peers/hydra/go.mod. */
const HYDRA: GoProgram = {
  name: 'hydra',
  source: 'github.com/ory/hydra/v2',
  flags: [
    '-tags=sqlite,sqlite_omit_load_extension',
    '-ldflags=-X github.com/ory/hydra/v2/driver/config.Version=v2.3.0',
  ],
};

type Hydra = { program: string; version: string };

/** @throws {Error} without Hydra on the PATH, and without Go or what it downloads */
export async function findHydra(servers: Servers, say: (line: string) => void): Promise<Hydra> {
  const program = await goProgram(HYDRA, servers, say);
  return { program, version: await oryVersion(servers, 'hydra', program) };
}

/** @throws {Error} if Hydra was built without SQLite (Go's build tag `sqlite`) */
export async function startHydra(
  servers: Servers,
  { program, version }: Hydra,
  store: 'SQLite' | 'Postgres',
): Promise<AuthPeer> {
  const name = `hydra-${store.toLowerCase()}`;
  const directory = await programDirectory(servers, name);
  const file = join(directory, 'hydra.yml');
  const adminPort = await freePort();
  const dsn = store === 'SQLite' ? unsyncedFile(directory) : await makeDatabase(servers);
  const door = await startProgram(servers, {
    name,
    place: servers.places?.server,
    command: async (port) => {
      const filled = await fillTemplate(servers, 'hydra/hydra.yml.template', {
        DSN: dsn,
        PORT: String(port),
        ADMIN_PORT: String(adminPort),
        SYSTEM_SECRET: randomBytes(16).toString('hex'),
      });
      await writeFile(file, filled, { mode: 0o600 });
      await migrate(servers, program, file);
      // --dev: plain HTTP.
      return { args: [program, 'serve', 'all', '--dev', '-c', file], env: ORY_ENVIRONMENT };
    },
  });
  const admin = localUrl(adminPort);
  await waitFor(async () => (await fetch(`${admin}/health/ready`)).ok, {
    timeoutMs: 20_000,
    what: `${name} to be ready`,
  });
  const { client_id: clientId, client_secret: clientSecret } = newSampleSecrets().manager.application;
  await registerClient(admin, clientId, clientSecret);
  return {
    name: `Hydra with ${store}`,
    pid: door.pid,
    clientId,
    clientSecret,
    introspectsByBasic: false,
    tokenUrl: new URL('/oauth2/token', door.url).href,
    introspectionUrl: `${admin}/admin/oauth2/introspect`,
    version,
  };
}

/**
 * Never synced, so it stays in memory. Hydra's own `memory` is lost when a load closes all its connections.
 */
function unsyncedFile(directory: string): string {
  return `sqlite://${join(directory, 'hydra.sqlite')}?_fk=true&_journal_mode=WAL&_synchronous=OFF`;
}

async function makeDatabase({ databaseUrl }: Servers): Promise<string> {
  const url = new URL(databaseUrl);
  url.pathname = '/hydra';
  url.searchParams.set('sslmode', 'disable');
  await withClient(databaseUrl, (client) => client.query('CREATE DATABASE hydra'));
  return url.href;
}

async function migrate({ directory, onSpawn }: Servers, program: string, file: string): Promise<void> {
  await runCommand({
    name: 'hydra migrate',
    command: program,
    // The address of the database is in the file; without the flag, v2.3 wants it as an argument.
    args: ['migrate', 'sql', 'up', '--read-from-env', '--yes', '-c', file],
    env: ORY_ENVIRONMENT,
    logFile: join(directory, 'logs/hydra-migrate.log'),
    onSpawn,
  });
}

async function registerClient(admin: string, clientId: string, clientSecret: string): Promise<void> {
  const answer = await fetch(`${admin}/admin/clients`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      client_id: clientId,
      client_secret: clientSecret,
      grant_types: ['client_credentials'],
      scope: 'api',
      token_endpoint_auth_method: 'client_secret_post',
    }),
    signal: AbortSignal.timeout(10_000),
  });
  if (!answer.ok) throw new Error(`Hydra answered ${String(answer.status)} to its client's registration`);
}
