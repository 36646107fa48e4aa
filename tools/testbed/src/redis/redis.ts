import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import { startRedis as start } from '@tollgate/stack/redis';
import { runDirectory } from '../config.ts';
import { newDirectory, readRun, register } from '../run.ts';
import { freezing } from '../signal-tree.ts';

export type RunningRedis = {
  /** The address survives kill, stop and restart. */
  url: string;
  stop: () => Promise<void>;
  kill: () => Promise<void>;
  restart: () => Promise<void>;
};

export type OwnRedis = RunningRedis & {
  port: number;
  /** SIGSTOP: connections stay open and get no reply. */
  freeze: () => void;
  thaw: () => void;
};

const ATTEMPTS = 3;

/** A separate, empty server (some 50 ms). `settings` are lines of its redis.conf. */
export function startRedis(settings: readonly string[] = []): Promise<OwnRedis> {
  return startRedisProcess({ settings: () => Promise.resolve(settings) });
}

/** Settings are computed for each attempt, so that ports in them are new too. */
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
        ...freezing(() => server.process.identity.pid),
        restart: async () => {
          server = await start(options);
        },
      };
    } catch (error) {
      // Another process may take the port before its use.
      if (attempt === ATTEMPTS) throw error;
    }
  }
}
