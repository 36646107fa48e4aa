import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { redisImage } from '@tollgate/stack/config';

export const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const REPOSITORIES = {
  auth: 'tollgate-auth',
  account: 'tollgate-account',
  gateway: 'tollgate-gateway',
  upstream: 'tollgate-sample-upstream',
} as const;

/** A tag of the suites' own, so that a docker compose on this machine keeps its own. */
export const TAG = 'e2e';

export type BuiltImage = keyof typeof REPOSITORIES;

/** The images that aren't built here. Another registry's or version's can take their place. */
export const POSTGRES_IMAGE = process.env['POSTGRES_IMAGE'] ?? 'postgres:17.6';
export const REDIS_IMAGE = redisImage();

export function builtImage(name: BuiltImage): string {
  return `${REPOSITORIES[name]}:${TAG}`;
}

/** Set by scripts/test.ts: even a build of which all is cached takes seconds, as it reads the working copy. */
const ARE_BUILT = process.env['IMAGES_ARE_BUILT'] === '1';

/**
 * Builds all images from the working copy as `docker compose up --build` does, so that the suites share one cache.
 *
 * @throws {Error} with the end of the build's output.
 */
export async function buildImages(): Promise<void> {
  if (ARE_BUILT) return;
  try {
    await promisify(execFile)('docker', ['compose', '--progress=plain', 'build'], {
      cwd: PROJECT,
      env: { ...process.env, TOLLGATE_TAG: TAG },
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`The images can't be built:\n${(stdout + stderr).slice(-4_000)}`, { cause: error });
  }
}
