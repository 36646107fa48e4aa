import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDir as defaultCacheDir, ownEnvironment } from './config.ts';
import { runCommand } from './process.ts';
import type { OnSpawn } from './process.ts';

export type UnpackedPackages = { root: string; libraryPath: string };

export type DebianPackagesOptions = {
  /** Names the directory in the cache; another set of packages needs another name. */
  name: string;
  packages: readonly string[];
  probe: { program: string; args: readonly string[] };
  cacheDir?: string;
  logFile: string;
  say?: ((line: string) => void) | undefined;
  onSpawn?: OnSpawn | undefined;
};

/**
 * Unpacks Debian's (or Ubuntu's) packages and missing dependencies into the cache; apt-get verifies them. Needs no
 * root and runs no package's scripts, so that no service starts. Concurrent calls are safe.
 * @throws {Error} without apt-get or network, or if the programs don't run here
 */
export async function unpackDebianPackages(options: DebianPackagesOptions): Promise<UnpackedPackages> {
  const { name, cacheDir = defaultCacheDir(), say } = options;
  const target = join(cacheDir, `${name}-debian-${process.arch}`);
  const known = await usable(target, options);
  if (known !== undefined) return known;

  say?.(`Debian's packages ${options.packages.join(', ')}: downloading (for the cache, not installed) …`);
  await mkdir(cacheDir, { recursive: true });
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
  if (made === undefined) throw new Error(`the ${name} of the Debian package does not run here`);
  return made;
}

async function download(work: string, options: DebianPackagesOptions): Promise<void> {
  await mkdir(join(work, 'state/lists/partial'), { recursive: true });
  await mkdir(join(archives(work), 'partial'), { recursive: true });
  const apt = [
    '-q',
    '--yes',
    ...[
      `Dir::State=${join(work, 'state')}`,
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
  const install = ['install', '--download-only', '--reinstall', '--no-install-recommends'];
  await run('apt-get', [...apt, ...install, ...options.packages], options);
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

async function usable(root: string, options: DebianPackagesOptions): Promise<UnpackedPackages | undefined> {
  const program = join(root, options.probe.program);
  if (!existsSync(program)) return undefined;
  const directories = [join(root, 'usr/lib'), join(root, 'lib')];
  for (const directory of [...directories]) {
    const entries = existsSync(directory) ? await readdir(directory, { withFileTypes: true }) : [];
    directories.push(
      ...entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(directory, name)),
    );
  }
  const libraryPath = directories.join(':');
  try {
    await run(program, options.probe.args, options, { LD_LIBRARY_PATH: libraryPath });
    return { root, libraryPath };
  } catch {
    return undefined;
  }
}

function archives(work: string): string {
  return join(work, 'cache/archives');
}

async function run(
  command: string,
  args: readonly string[],
  { logFile, onSpawn }: Pick<DebianPackagesOptions, 'logFile' | 'onSpawn'>,
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
