import { accessSync, constants } from 'node:fs';
import { join } from 'node:path';
import { cacheDir, DEFAULT_REDIS_IMAGE, ownEnvironment, redisImage, searchPath } from '../config.ts';
import { runCommand } from '../process.ts';
import type { OnSpawn } from '../process.ts';
import { debianRedis } from './redis-debian.ts';

export type RedisProgram =
  { kind: 'binary'; path: string; libraryPath?: string } | { kind: 'docker'; docker: string; image: string };

export type FindRedisOptions = {
  logFile: string;
  path?: readonly string[];
  cacheDir?: string;
  say?: ((line: string) => void) | undefined;
  onSpawn?: OnSpawn | undefined;
};

/**
 * redis-server or valkey-server on the PATH, else Debian's package in the cache, else Docker.
 * @throws {Error} that names each option, and why those that were tried failed
 */
export async function findRedis(options: FindRedisOptions): Promise<RedisProgram> {
  const { path = searchPath() } = options;
  const server = which(path, 'redis-server') ?? which(path, 'valkey-server');
  if (server !== undefined) return { kind: 'binary', path: server };

  const tried: string[] = [];
  if (which(path, 'apt-get') !== undefined && which(path, 'dpkg-deb') !== undefined) {
    try {
      return { kind: 'binary', ...(await debianRedis({ cacheDir: cacheDir(), ...options })) };
    } catch (error) {
      tried.push(`Debian's package: ${messageOf(error)}`);
    }
  }
  const docker = which(path, 'docker');
  if (docker !== undefined) {
    try {
      return { kind: 'docker', docker, image: await pulledImage(docker, options) };
    } catch (error) {
      tried.push(`Docker: ${messageOf(error)}`);
    }
  }
  throw new Error(
    [
      'Tollgate needs a Redis, and none was found. Any one of these will do:',
      '  - REDIS_URL=redis://… names one that runs',
      '  - redis-server or valkey-server on the PATH',
      "  - apt-get and dpkg-deb (Debian, Ubuntu) with a network: its package is unpacked into the user's cache",
      `  - a Docker engine that has, or can pull, ${DEFAULT_REDIS_IMAGE} (or the image that REDIS_IMAGE names)`,
      ...tried.map((reason) => `Tried in vain: ${reason}`),
    ].join('\n'),
  );
}

async function pulledImage(docker: string, { logFile, say, onSpawn }: FindRedisOptions): Promise<string> {
  const image = redisImage();
  const run = (...args: string[]) =>
    runCommand({
      name: `docker ${args[0] ?? ''}`,
      command: docker,
      args,
      env: ownEnvironment(),
      logFile,
      onSpawn,
    });
  await run('info', '--format', '{{.ServerVersion}}');
  try {
    await run('image', 'inspect', '--format', '{{.Id}}', image);
  } catch {
    say?.(`Redis is not installed; pulling the Docker image ${image}`);
    await run('pull', '--quiet', image);
  }
  return image;
}

function which(path: readonly string[], program: string): string | undefined {
  return path
    .map((directory) => join(directory, program))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
