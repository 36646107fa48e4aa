import { homedir } from 'node:os';
import { join } from 'node:path';

export function searchPath(): string[] {
  return (process.env['PATH'] ?? '').split(':').filter((directory) => directory !== '');
}

/** Downloads shared by all checkouts of this user (XDG base directories). */
export function cacheDir(): string {
  const base = process.env['XDG_CACHE_HOME'];
  return join(base === undefined || base === '' ? join(homedir(), '.cache') : base, 'tollgate');
}

export const DEFAULT_REDIS_IMAGE = 'redis:7.4.6';

export function redisImage(): string {
  return process.env['REDIS_IMAGE'] ?? DEFAULT_REDIS_IMAGE;
}

export function ownEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}
