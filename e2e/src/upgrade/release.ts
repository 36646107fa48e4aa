import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { cacheDir } from '@tollgate/stack/config';
import type { ServiceName, StackPlan } from '@tollgate/stack/service-settings';

const run = promisify(execFile);
const PROJECT = resolve(import.meta.dirname, '../../..');

/** What runs of a commit: its own sources, packages and Node.js, and what its own `npm start` sets. */
export type Release = {
  name: string;
  directory: string;
  node: string;
  settings: (plan: StackPlan) => Record<ServiceName, Record<string, string>>;
};

/** This working copy. */
export function thisVersion(): Promise<Release> {
  return releaseIn(PROJECT, 'this version');
}

/**
 * The sources of a commit of this repository, with the packages of its lockfile. Kept in the cache of all checkouts, so
 * that the next run installs nothing.
 */
export async function releaseOf(commit: string): Promise<Release> {
  const { stdout } = await run('git', ['rev-parse', '--verify', `${commit}^{commit}`], { cwd: PROJECT });
  const hash = stdout.trim();
  const directory = join(cacheDir(), 'releases', hash);
  if (!existsSync(directory)) await unpack(hash, directory);
  // Its own module, since what it installs and how is its own.
  const { install } = (await import(pathToFileURL(join(directory, 'scripts/install.mjs')).href)) as {
    install: (root: string) => Promise<boolean>;
  };
  if (!(await install(`${directory}/`))) throw new Error(`the packages of ${commit} could not be installed`);
  return releaseIn(directory, `${await versionIn(directory)} (${hash.slice(0, 9)})`);
}

/** Complete or not there at all. */
async function unpack(hash: string, directory: string): Promise<void> {
  const partial = `${directory}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  const archive = `${partial}.tar`;
  await run('git', ['archive', '--format=tar', '--output', archive, hash], { cwd: PROJECT });
  await run('tar', ['--extract', '--file', archive, '--directory', partial]);
  await rm(archive);
  await rename(partial, directory);
}

async function versionIn(directory: string): Promise<string> {
  const { version } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8')) as {
    version: string;
  };
  return version;
}

async function releaseIn(directory: string, name: string): Promise<Release> {
  const settings = pathToFileURL(join(directory, 'tools/stack/src/service-settings.ts')).href;
  const { serviceSettings } = (await import(settings)) as { serviceSettings: Release['settings'] };
  // The program that pnpm's script starts, which is to get our signals itself.
  const { stdout } = await run(join(directory, 'node_modules/.bin/node'), ['--print', 'process.execPath']);
  return { name, directory, node: stdout.trim(), settings: serviceSettings };
}
