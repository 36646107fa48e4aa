import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDir } from '@tollgate/stack/config';
import { requiresRuntimes } from './config.ts';

const run = promisify(execFile);

/** Packages that contain the program itself: those named after the runtimes fetch it when they are installed. */
const RUNTIMES = {
  bun: { package: '@oven/bun-linux-x64', version: '1.4.5', program: 'bin/bun' },
  deno: { package: '@deno/linux-x64-glibc', version: '2.9.6', program: 'deno' },
};

/**
 * A JavaScript runtime that isn't Node.js, kept in the cache from its first use on: 100 MB are too many to install for
 * all. Null where this machine can't have it, which is printed.
 * @throws {Error} in place of null with REQUIRE_RUNTIMES=1
 */
export async function findRuntime(name: keyof typeof RUNTIMES): Promise<string | null> {
  const { package: packageName, version, program } = RUNTIMES[name];
  const target = join(cacheDir(), `${name}-${version}`);
  try {
    if (!existsSync(join(target, program))) await install(`${packageName}@${version}`, target);
    await run(join(target, program), ['--version']);
    return join(target, program);
  } catch (error) {
    if (requiresRuntimes()) throw error;
    process.stderr.write(`Left out: ${packageName} can't be had or run here. REQUIRE_RUNTIMES=1 fails.\n`);
    return null;
  }
}

async function install(specifier: string, target: string): Promise<void> {
  const work = `${target}.${randomUUID()}`;
  await mkdir(work, { recursive: true });
  try {
    const { stdout } = await run('npm', ['pack', specifier, '--json', '--silent'], { cwd: work });
    const [packed] = JSON.parse(stdout) as { filename: string }[];
    await run('tar', ['-xzf', packed?.filename ?? ''], { cwd: work });
    await rm(target, { recursive: true, force: true });
    await rename(join(work, 'package'), target);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}
