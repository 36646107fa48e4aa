import { join, resolve } from 'node:path';
import { withClient } from '@tollgate/stack/postgres';
import { runCommand } from '@tollgate/stack/process';
import { compileCache } from './config.ts';
import { readRun, register } from './run.ts';

/** The migrated, empty database that every suite's own is cloned from. */
export const TEMPLATE = 'tollgate_template';

export type Database = {
  url: string;
  /** Deletes it, sessions or not. */
  drop: () => Promise<void>;
};

/** A migrated, empty database of its own, on the run's Postgres (some 50 ms). */
export async function createDatabase(): Promise<Database> {
  const { postgresUrl } = await readRun();
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  await withClient(postgresUrl, (client) => client.query(`CREATE DATABASE ${name} TEMPLATE ${TEMPLATE}`));
  return {
    url: databaseUrl(postgresUrl, name),
    drop: async () => {
      await withClient(postgresUrl, (client) => client.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`));
    },
  };
}

/** Brings a database to the newest schema by the account service's own program. */
export async function migrate(url: string, runDirectory: string): Promise<void> {
  await runCommand({
    name: 'migrate',
    command: process.execPath,
    args: [resolve(import.meta.dirname, '../../../services/account/src/programs/migrate.ts')],
    env: { ...compileCache(), DATABASE_URL: url },
    logFile: join(runDirectory, 'logs/migrate.log'),
    onSpawn: register(runDirectory),
  });
}

/** The URL of another database of the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
