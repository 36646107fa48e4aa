import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ownEnvironment } from './config.ts';
import { runCommand } from './process.ts';
import type { OnSpawn } from './process.ts';

/** A redis-server that was unpacked, not installed, and where its libraries are. */
export type UnpackedRedis = { path: string; libraryPath: string };

/**
 * Debian's (and Ubuntu's) Redis, downloaded by apt-get, which verifies it, and unpacked into a directory of the
 * cache. Needs no root and changes nothing of the system: apt-get gets directories of its own.
 *
 * Of several at once each unpacks into its own place and one rename wins.
 */
export async function debianRedis(options: {
  cacheDir: string;
  logFile: string;
  /** Told when there is something to download. */
  say?: ((line: string) => void) | undefined;
  onSpawn?: OnSpawn | undefined;
}): Promise<UnpackedRedis> {
  const target = join(options.cacheDir, `redis-debian-${process.arch}`);
  const known = await usable(target, options);
  if (known !== undefined) return known;

  options.say?.("Redis is not installed; downloading Debian's package (for the cache, not installed) …");
  await mkdir(options.cacheDir, { recursive: true });
  const work = `${target}.${randomUUID()}`;
  try {
    await download(work, options);
    const unpacked = join(work, 'root');
    const debs = (await readdir(archives(work))).filter((file) => file.endsWith('.deb'));
    for (const deb of debs) await run('dpkg-deb', ['-x', join(archives(work), deb), unpacked], options);
    // Another start may have put a good one there meanwhile; one that doesn't run any more makes room.
    if ((await usable(target, options)) === undefined) await replace(unpacked, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  const made = await usable(target, options);
  if (made === undefined) throw new Error('the Redis of the Debian package does not run here');
  return made;
}

type RunOptions = { logFile: string; onSpawn?: OnSpawn | undefined };

async function download(work: string, options: RunOptions): Promise<void> {
  await mkdir(join(work, 'state/lists/partial'), { recursive: true });
  await mkdir(join(archives(work), 'partial'), { recursive: true });
  const apt = [
    '-q',
    '--yes',
    ...[
      `Dir::State=${join(work, 'state')}`,
      // What is installed is not downloaded again.
      'Dir::State::status=/var/lib/dpkg/status',
      `Dir::Cache=${join(work, 'cache')}`,
      'Debug::NoLocking=1',
      // As root, apt-get would download as a user that may not enter our directory.
      'APT::Sandbox::User=root',
      'Acquire::Languages=none',
      'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false',
    ].flatMap((setting) => ['-o', setting]),
  ];
  await run('apt-get', [...apt, 'update'], options);
  // redis-tools holds the program that redis-server links to. Both also where the system says it has them.
  const packages = ['redis-server', 'redis-tools'];
  const install = ['install', '--download-only', '--reinstall', '--no-install-recommends', ...packages];
  await run('apt-get', [...apt, ...install], options);
}

async function replace(unpacked: string, target: string): Promise<void> {
  const old = `${target}.${randomUUID()}`;
  if (existsSync(target)) await rename(target, old);
  try {
    await rename(unpacked, target);
  } catch (error) {
    if (!existsSync(target)) throw error;
  } finally {
    await rm(old, { recursive: true, force: true });
  }
}

/** The unpacked Redis, if it is there and still finds the libraries of the system that it needs. */
async function usable(root: string, options: RunOptions): Promise<UnpackedRedis | undefined> {
  const path = join(root, 'usr/bin/redis-server');
  if (!existsSync(path)) return undefined;
  const directories = [join(root, 'usr/lib'), join(root, 'lib')];
  for (const directory of [...directories]) {
    const entries = existsSync(directory) ? await readdir(directory, { withFileTypes: true }) : [];
    directories.push(
      ...entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name)),
    );
  }
  const redis = { path, libraryPath: directories.join(':') };
  try {
    await run(path, ['--version'], options, { LD_LIBRARY_PATH: redis.libraryPath });
    return redis;
  } catch {
    return undefined;
  }
}

function archives(work: string): string {
  return join(work, 'cache/archives');
}

async function run(
  command: string,
  args: string[],
  { logFile, onSpawn }: RunOptions,
  env: Record<string, string> = {},
): Promise<void> {
  await runCommand({
    name: command,
    command,
    args,
    env: { ...ownEnvironment(), DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C', ...env },
    logFile,
    onSpawn,
  });
}
