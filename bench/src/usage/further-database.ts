import { join } from 'node:path';
import { withClient } from '@tollgate/stack/postgres';
import { runCommand } from '@tollgate/stack/process';
import type { Servers } from '../servers.ts';

/** Migrated, beside the sample's. Returns its URL. */
export async function makeDatabase(servers: Servers, name: string, fillingSql: string): Promise<string> {
  const url = new URL(servers.databaseUrl);
  url.pathname = `/${name}`;
  await withClient(servers.databaseUrl, (client) => client.query(`CREATE DATABASE ${name}`));
  await runCommand({
    name: 'migrate',
    command: process.execPath,
    args: [join(servers.project, 'services/account/src/programs/migrate.ts')],
    env: { ...process.env, DATABASE_URL: url.href },
    cwd: servers.project,
    logFile: join(servers.directory, `logs/migrate-${name}.log`),
    onSpawn: servers.onSpawn,
  });
  await withClient(url.href, (client) => client.query(fillingSql));
  return url.href;
}
