import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where programs are looked for: the directories of PATH. */
export function searchPath(): string[] {
  return (process.env['PATH'] ?? '').split(':').filter((directory) => directory !== '');
}

/** Where what was downloaded once is kept for all checkouts of this user (XDG base directories). */
export function cacheDir(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'tollgate');
}

/** The image that serves as Redis where only Docker is at hand. */
export function redisImage(): string {
  return process.env['REDIS_IMAGE'] ?? 'redis:7';
}

/** What a helper program (a package manager, Docker) needs of our own environment: all of it. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}
