import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PROJECT = fileURLToPath(new URL('../../..', import.meta.url));
const DOCKERFILES = {
  auth: 'services/auth/Dockerfile',
  account: 'services/account/Dockerfile',
  gateway: 'services/gateway/Dockerfile',
  upstream: 'sample-upstream/Dockerfile',
} as const;

export type BuiltImage = keyof typeof DOCKERFILES;

/** The images that aren't built here. Another registry's or version's can take their place. */
export const POSTGRES_IMAGE = process.env['POSTGRES_IMAGE'] ?? 'postgres:17';
export const REDIS_IMAGE = process.env['REDIS_IMAGE'] ?? 'redis:7';

/** A tag of the suite's own, so that a docker compose on this machine keeps its own. */
export function builtImage(name: BuiltImage): string {
  return `tollgate-${name}:e2e`;
}

/**
 * Builds the four images from the working copy, one after the other: they share their first stages, which the
 * first build leaves in the cache. Done through the docker command, which alone knows a build's network.
 *
 * @throws {Error} with the end of the build's output.
 */
export async function buildImages(): Promise<void> {
  for (const name of Object.keys(DOCKERFILES) as BuiltImage[]) await buildImage(name);
}

async function buildImage(name: BuiltImage): Promise<void> {
  const { NODE_IMAGE, DOCKER_BUILD_NETWORK = 'default' } = process.env;
  const base = NODE_IMAGE === undefined ? [] : ['--build-arg', `NODE_IMAGE=${NODE_IMAGE}`];
  const args = [
    '--quiet',
    '--force-rm',
    '--network',
    DOCKER_BUILD_NETWORK,
    ...base,
    '--file',
    DOCKERFILES[name],
  ];
  try {
    await promisify(execFile)('docker', ['build', ...args, '--tag', builtImage(name), '.'], {
      cwd: PROJECT,
      maxBuffer: 64 * 1024 * 1024,
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`The image of ${name} can't be built:\n${(stdout + stderr).slice(-4_000)}`, {
      cause: error,
    });
  }
}
