import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { startRedis as start } from '@tollgate/stack/redis';
import { runDirectory } from './config.ts';
import { newDirectory, readRun, register } from './run.ts';
import { signalTree } from './signal-tree.ts';

/** A Redis of whatever topology, as a suite takes it away and brings it back. */
export type RunningRedis = {
  /** The address stays valid over kill, stop and restart. */
  url: string;
  stop: () => Promise<void>;
  /** SIGKILL. */
  kill: () => Promise<void>;
  /** Starts it again on its data; resolves when it answers. */
  restart: () => Promise<void>;
};

export type OwnRedis = RunningRedis & {
  port: number;
  /** SIGSTOP: it keeps its connections and answers nothing, until it goes on. */
  freeze: () => void;
  /** SIGCONT. */
  thaw: () => void;
};

const ATTEMPTS = 3;

/** A Redis server of its own, empty at first (some 50 ms). `settings` are further lines of its redis.conf. */
export function startRedis(settings: readonly string[] = []): Promise<OwnRedis> {
  return startRedisProcess({ settings: () => Promise.resolve(settings) });
}

/** One process of a topology. Its settings are asked for at each attempt, so that ports in them are new too. */
export async function startRedisProcess({
  settings,
  password = randomBytes(16).toString('hex'),
  mode = 'server',
}: {
  settings: () => Promise<readonly string[]>;
  password?: string;
  mode?: 'server' | 'sentinel';
}): Promise<OwnRedis> {
  const directory = runDirectory();
  const { redisProgram: program } = await readRun();
  const dataDir = newDirectory(directory, 'redis');
  for (let attempt = 1; ; attempt += 1) {
    const port = await freePort();
    const options = {
      program,
      dataDir,
      port,
      password,
      mode,
      logFile: join(dataDir, 'redis.log'),
      onSpawn: register(directory),
      settings: await settings(),
    };
    try {
      let server = await start(options);
      return {
        url: server.url,
        port,
        stop: () => server.stop(),
        kill: () => server.kill(),
        freeze: () => {
          signalTree(server.process.identity.pid, 'SIGSTOP');
        },
        thaw: () => {
          signalTree(server.process.identity.pid, 'SIGCONT');
        },
        restart: async () => {
          server = await start(options);
        },
      };
    } catch (error) {
      // Between the choice of the port and its use another process may take it.
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
