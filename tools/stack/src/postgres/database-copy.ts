import { withClient } from './postgres.ts';

/** A copy of a whole database on its own server, and what it takes to go back to it: a backup and its restore. */

/**
 * Statements that copy a database in use; to be run one by one, on another database of the server. Each
 * waits for ended sessions to be gone.
 */
export function copyStatements(database: string): string[] {
  return [
    `DROP DATABASE IF EXISTS ${database}_copy`,
    ...withoutSessions(database, [`CREATE DATABASE ${database}_copy TEMPLATE ${database}`]),
    `ALTER DATABASE ${database} ALLOW_CONNECTIONS true`,
  ];
}

/** Statements that put the copy in the database's place. */
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

/** Copies the database of a URL; its user must be a superuser. */
export function copyDatabase(url: string): Promise<void> {
  return runBeside(url, copyStatements);
}

/** Puts the copy in the place of the database of a URL. */
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
