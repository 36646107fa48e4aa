import { join } from 'node:path';
import { withClient } from '@tollgate/stack/postgres';
import { runCommand } from '@tollgate/stack/process';
import { compileCache } from './config.ts';
import { programFile } from './programs.ts';
import { readRun, register } from './run.ts';

export const TEMPLATE = 'tollgate_template';

export type Database = {
  url: string;
  /** Ends open sessions. */
  drop: () => Promise<void>;
};

/** Migrated and empty, on the run's Postgres (some 50 ms). */
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

export async function migrate(url: string, runDirectory: string): Promise<void> {
  await runCommand({
    name: 'migrate',
    command: process.execPath,
    args: [programFile('services/account', 'programs/migrate')],
    env: { ...compileCache(), DATABASE_URL: url },
    logFile: join(runDirectory, 'logs/migrate.log'),
    onSpawn: register(runDirectory),
  });
}

export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return url.href;
}
