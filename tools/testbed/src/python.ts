import { execFile } from 'node:child_process';
import { createHash, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDir } from '@tollgate/stack/config';
import { requiresPython } from './config.ts';

const run = promisify(execFile);

/**
 * The interpreter of a virtual environment that has these packages, made in the cache at first use. Null where this
 * machine has no Python with venv, or its packages can't be had, which is printed. Concurrent calls are safe.
 * @throws {Error} in place of null with REQUIRE_PYTHON=1
 */
export async function findPython(requirements: string): Promise<string | null> {
  try {
    const { stdout: version } = await run('python3', ['--version']);
    const digest = createHash('sha256').update(version).update(readFileSync(requirements)).digest('hex');
    const target = join(cacheDir(), `python-${digest.slice(0, 16)}`);
    if (!(await works(target))) await make(target, requirements);
    return interpreterOf(target);
  } catch (error) {
    if (requiresPython()) throw error;
    process.stderr.write(
      'Left out: there is no Python with venv, or no package for it. REQUIRE_PYTHON=1 fails.\n',
    );
    return null;
  }
}

const interpreterOf = (directory: string) => join(directory, 'bin/python');

async function make(target: string, requirements: string): Promise<void> {
  const work = `${target}.${randomUUID()}`;
  await mkdir(cacheDir(), { recursive: true });
  try {
    await run('python3', ['-m', 'venv', work]);
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--only-binary', ':all:'];
    await run(interpreterOf(work), [...pip, '--requirement', requirements]);
    // Another run may have made a good one meanwhile.
    if (await works(target)) return;
    await rm(target, { recursive: true, force: true });
    await rename(work, target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function works(directory: string): Promise<boolean> {
  return await run(interpreterOf(directory), ['-c', 'import pytest']).then(
    () => true,
    () => false,
  );
}
