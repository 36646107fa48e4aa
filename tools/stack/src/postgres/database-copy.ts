import { withClient } from './postgres.ts';

/** Run these one by one on another database of the server; each waits until ended sessions are gone. */
export function copyStatements(database: string): string[] {
  return [
    `DROP DATABASE IF EXISTS ${database}_copy`,
    ...withoutSessions(database, [`CREATE DATABASE ${database}_copy TEMPLATE ${database}`]),
    `ALTER DATABASE ${database} ALLOW_CONNECTIONS true`,
  ];
}

export function restoreStatements(database: string): string[] {
  return [
    ...withoutSessions(database, [`ALTER DATABASE ${database} RENAME TO ${database}_lost`]),
    `CREATE DATABASE ${database} TEMPLATE ${database}_copy`,
    `DROP DATABASE ${database}_lost WITH (FORCE)`,
  ];
}

function withoutSessions(database: string, statements: readonly string[]): string[] {
  return [
    `ALTER DATABASE ${database} ALLOW_CONNECTIONS false`,
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}'`,
    ...statements,
  ];
}

/** The URL's user must be a superuser. */
export function copyDatabase(url: string): Promise<void> {
  return runBeside(url, copyStatements);
}

export function restoreDatabase(url: string): Promise<void> {
  return runBeside(url, restoreStatements);
}

async function runBeside(url: string, statements: (database: string) => string[]): Promise<void> {
  const server = new URL(url);
  const database = server.pathname.slice(1);
  server.pathname = '/postgres';
  await withClient(server.href, async (client) => {
    for (const statement of statements(database)) await client.query(statement);
  });
}
