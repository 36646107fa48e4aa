import { join } from 'node:path';
import { unpackDebianPackages } from '../debian-packages.ts';
import type { OnSpawn } from '../process.ts';

export type UnpackedRedis = { path: string; libraryPath: string };

export async function debianRedis(options: {
  cacheDir: string;
  logFile: string;
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
