import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { REDIS_DATA_SETTINGS } from '@tollgate/redis/server-settings';
import { ownEnvironment } from '../config.ts';
import { describeExit, logTail, runCommand, startProcess } from '../process.ts';
import type { ManagedProcess, OnSpawn, ProcessOptions } from '../process.ts';
import type { RedisProgram } from './redis-program.ts';
import { waitFor } from '../wait-for.ts';

export type RedisOptions = {
  program: RedisProgram;
  dataDir: string;
  port: number;
  password: string;
  logFile: string;
  onSpawn?: OnSpawn;
  /** Lines of redis.conf that override our own. */
  settings?: readonly string[];
  /** `sentinel` holds no data and doesn't run in a container. */
  mode?: 'server' | 'sentinel';
};

export type RedisServer = {
  url: string;
  process: ManagedProcess;
  stop: () => Promise<void>;
  kill: () => Promise<void>;
};

const START_TIME_LIMIT_MS = 60_000;

/**
 * Keeps its data over a crash (append-only file) and evicts nothing: tokens and unsettled usage are no cache.
 * @throws {Error} with the log's last lines if it doesn't answer
 */
export async function startRedis(options: RedisOptions): Promise<RedisServer> {
  const { dataDir, port, password, program, logFile } = options;
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const server = await startProcess(
    program.kind === 'docker' ? await inDocker(options, program) : await asProcess(options, program),
  );
  const container = containerName(port);
  const removeContainer = async () => {
    if (program.kind === 'docker') await docker(program.docker, ['rm', '--force', container], logFile);
  };
  try {
    await waitFor(() => server.hasExited() || answers(port, password), {
      timeoutMs: START_TIME_LIMIT_MS,
      what: 'Redis to answer',
    });
    if (server.hasExited()) throw new Error(`Redis ended with ${describeExit(await server.exited)}`);
  } catch (error) {
    await server.stop();
    await removeContainer();
    throw new Error(`Redis doesn't answer.\n${logTail(logFile)}`, { cause: error });
  }
  return {
    url: `redis://:${encodeURIComponent(password)}@127.0.0.1:${String(port)}`,
    process: server,
    stop: async () => {
      await server.stop({ signal: 'SIGTERM', timeLimitMs: 15_000 });
      await removeContainer();
    },
    kill: async () => {
      await removeContainer();
      await server.stop({ signal: 'SIGKILL' });
    },
  };
}

async function asProcess(
  { dataDir, port, password, logFile, onSpawn, settings: more, mode = 'server' }: RedisOptions,
  { path, libraryPath }: Extract<RedisProgram, { kind: 'binary' }>,
): Promise<ProcessOptions> {
  // The password is in a private file, because all users of the machine can see arguments.
  const configFile = join(dataDir, 'redis.conf');
  await writeFile(configFile, settings({ bind: '127.0.0.1', port, dir: dataDir, password, mode }, more), {
    mode: 0o600,
  });
  await chmod(configFile, 0o600);
  return {
    name: 'redis',
    command: path,
    args: mode === 'sentinel' ? [configFile, '--sentinel'] : [configFile],
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', LD_LIBRARY_PATH: libraryPath },
    cwd: dataDir,
    logFile,
    onSpawn,
  };
}

async function inDocker(
  { dataDir, port, password, logFile, onSpawn, settings: more }: RedisOptions,
  { docker: command, image }: Extract<RedisProgram, { kind: 'docker' }>,
): Promise<ProcessOptions> {
  const container = containerName(port);
  // A killed client leaves its container behind.
  await docker(command, ['rm', '--force', container], logFile);
  // Files in dataDir then belong to us; as root, the image's own unprivileged user takes them.
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const user = uid === 0 ? [] : ['--user', `${String(uid)}:${String(gid)}`];
  const mounts = ['--volume', `${dataDir}:/data`, '--publish', `127.0.0.1:${String(port)}:6379`];
  return {
    name: 'redis',
    command,
    args: [
      'run',
      '--rm',
      '--interactive',
      '--name',
      container,
      ...user,
      ...mounts,
      image,
      'redis-server',
      '-',
    ],
    // The container's user can't read our private file, so the settings come by stdin.
    input: settings({ bind: '0.0.0.0', port: 6379, dir: '/data', password, mode: 'server' }, more),
    env: ownEnvironment(),
    logFile,
    onSpawn,
  };
}

function settings(
  values: { bind: string; port: number; dir: string; password: string; mode: 'server' | 'sentinel' },
  more: readonly string[] = [],
): string {
  const lines = [
    `bind ${values.bind}`,
    `port ${String(values.port)}`,
    `requirepass ${JSON.stringify(values.password)}`,
    `dir ${JSON.stringify(values.dir)}`,
    'daemonize no',
    'logfile ""',
    ...(values.mode === 'server' ? REDIS_DATA_SETTINGS : []),
    ...more,
  ];
  return `${lines.join('\n')}\n`;
}

function containerName(port: number): string {
  return `tollgate-redis-${String(port)}`;
}

async function docker(command: string, args: string[], logFile: string): Promise<void> {
  await runCommand({ name: 'docker', command, args, env: ownEnvironment(), logFile });
}

function answers(port: number, password: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const done = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    let reply = '';
    socket.setTimeout(2_000, () => {
      done(false);
    });
    socket.once('error', () => {
      done(false);
    });
    socket.once('close', () => {
      done(false);
    });
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      reply += chunk;
      if (reply.includes('-')) done(false);
      else if (reply.includes('+PONG')) done(true);
    });
    const bytes = String(Buffer.byteLength(password));
    socket.write(`*2\r\n$4\r\nAUTH\r\n$${bytes}\r\n${password}\r\n*1\r\n$4\r\nPING\r\n`);
  });
}
