import { join } from 'node:path';
import { unpackDebianPackages } from '../debian-packages.ts';
import type { OnSpawn } from '../process.ts';

/** A redis-server that was unpacked, not installed, and where its libraries are. */
export type UnpackedRedis = { path: string; libraryPath: string };

/** Debian's (and Ubuntu's) Redis, unpacked into a directory of the cache. */
export async function debianRedis(options: {
  cacheDir: string;
  logFile: string;
  /** Told when there is something to download. */
  say?: ((line: string) => void) | undefined;
  onSpawn?: OnSpawn | undefined;
}): Promise<UnpackedRedis> {
  const program = 'usr/bin/redis-server';
  const { root, libraryPath } = await unpackDebianPackages({
    ...options,
    name: 'redis',
    // redis-tools holds the program that redis-server links to.
    packages: ['redis-server', 'redis-tools'],
    probe: { program, args: ['--version'] },
  });
  return { path: join(root, program), libraryPath };
}
