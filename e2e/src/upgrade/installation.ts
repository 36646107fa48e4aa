import { mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { SampleIds } from '@tollgate/sample/demo';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import { freePort } from '@tollgate/stack/ports';
import { POSTGRES_STOP_SIGNAL, removePostgresData, startPostgres } from '@tollgate/stack/postgres';
import { describeExit, runCommand } from '@tollgate/stack/process';
import type { ManagedProcess } from '@tollgate/stack/process';
import { startRedis } from '@tollgate/stack/redis';
import { findRedis } from '@tollgate/stack/redis-program';
import { startService } from '@tollgate/stack/service';
import { localUrl } from '@tollgate/stack/service-settings';
import type { ServiceName, StackPlan } from '@tollgate/stack/service-settings';
import { storesDirectory } from '@tollgate/testbed/stores-directory';
import { startTcpRelay } from '@tollgate/testbed/tcp-relay';
import type { TcpRelay } from '@tollgate/testbed/tcp-relay';
import { localDemo } from '../../../scripts/launcher/demo.ts';
import { readMails } from '../stack/mails.ts';
import type { Demo } from '../stack/stack.ts';
import type { Release } from './release.ts';

export const REPLICAS = ['account', 'auth', 'gateway-1', 'gateway-2'] as const;

type Replica = (typeof REPLICAS)[number];

/** Stores, and one replica of account and auth and two of the gateway, each behind addresses that stay. */
export type Installation = {
  plan: StackPlan;
  postgresUrl: string;
  gatewayUrls: readonly [string, string];
  mails: () => Promise<string[]>;
  migrate: (release: Release) => Promise<void>;
  /** The sample accounts of the release, by its own program. */
  seed: (release: Release) => Promise<Demo>;
  /** The new process is ready and gets all new connections before the former one is told to end, as in a rollout. */
  replace: (replica: Replica, release: Release, plan: StackPlan) => Promise<void>;
  /** A server of this working copy beside them; resolves with its URL. */
  startSample: (name: 'upstream' | 'payments', env: Readonly<Record<string, string>>) => Promise<string>;
  /** What services have logged as errors: each message once with its process. */
  errors: () => string[];
  stop: () => Promise<void>;
};

type Address = { public: TcpRelay; private: TcpRelay };

const PROJECT = resolve(import.meta.dirname, '../../..');
const NOWHERE = 'http://127.0.0.1:1';
/** Longer than the services' own SHUTDOWN_TIMEOUT_MS. */
const STOP_TIME_LIMIT_MS = 20_000;
const ERROR_LEVELS = ['error', 'fatal'];

export async function startInstallation(): Promise<Installation> {
  const directory = await mkdtemp(join(storesDirectory(), 'tollgate-upgrade-'));
  // As root, Postgres runs as another user, who must reach its data.
  await chmod(directory, 0o711);
  const logs = join(directory, 'logs');
  mkdirSync(logs);
  const logOf = (name: string) => join(logs, `${name}.log`);
  const spawned: ManagedProcess[] = [];
  const onSpawn = (process: ManagedProcess) => void spawned.push(process);
  const address = async (): Promise<Address> => ({
    public: await startTcpRelay(NOWHERE),
    private: await startTcpRelay(NOWHERE),
  });
  const addresses: Record<Replica, Address> = {
    account: await address(),
    auth: await address(),
    'gateway-1': await address(),
    'gateway-2': await address(),
  };
  const running = new Map<Replica, ManagedProcess>();
  const secrets = newSampleSecrets();

  const stop = async () => {
    // In the order of what needs what, backwards.
    for (const process of spawned.toReversed()) {
      const signal = process.name === 'postgres' ? POSTGRES_STOP_SIGNAL : 'SIGTERM';
      if (!process.hasExited()) await process.stop({ signal, timeLimitMs: STOP_TIME_LIMIT_MS });
    }
    for (const { public: one, private: other } of Object.values(addresses)) {
      await Promise.all([one.close(), other.close()]);
    }
    await removePostgresData(join(directory, 'postgres'));
    await rm(directory, { recursive: true, force: true });
  };

  const startSample: Installation['startSample'] = async (name, env) => {
    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    await startService({
      name,
      entry: join(PROJECT, `sample-${name}/src/main.ts`),
      env: { HOST: '127.0.0.1', PORT: port, ...env },
      logFile: logOf(name),
      readyUrl: `${url}/health`,
      onSpawn,
    });
    return url;
  };

  async function startStores(): Promise<{ postgresUrl: string; redisUrl: string }> {
    const program = await findRedis({ logFile: logOf('find-redis'), onSpawn });
    const { url: redisUrl } = await startRedis({
      program,
      dataDir: join(directory, 'redis'),
      port: await freePort(),
      password: secrets.redis_password,
      logFile: logOf('redis'),
      onSpawn,
    });
    const { url: postgresUrl } = await startPostgres({
      dataDir: join(directory, 'postgres'),
      port: await freePort(),
      password: secrets.postgres_password,
      database: 'tollgate',
      logFile: logOf('postgres'),
      durable: false,
      onSpawn,
    });
    return { postgresUrl, redisUrl };
  }

  const program = (release: Release, name: 'migrate' | 'seed', env: Record<string, string>, input?: string) =>
    runCommand({
      name,
      command: release.node,
      args: [join(release.directory, `services/account/src/programs/${name}.ts`)],
      env,
      cwd: release.directory,
      logFile: logOf(name),
      ...(input === undefined ? {} : { input }),
      onSpawn,
    });

  try {
    const { postgresUrl, redisUrl } = await startStores();
    const upstreamUrl = `${await startSample('upstream', { NODE_ENV: 'production' })}/graphql`;
    const port = (replica: Replica, listener: keyof Address) =>
      Number(new URL(addresses[replica][listener].url).port);
    const plan: StackPlan = {
      ports: {
        account: port('account', 'public'),
        accountPrivate: port('account', 'private'),
        auth: port('auth', 'public'),
        authPrivate: port('auth', 'private'),
        gateway: port('gateway-1', 'public'),
        gatewayPrivate: port('gateway-1', 'private'),
      },
      upstreamUrl,
      databaseUrl: postgresUrl,
      redisUrl,
      mailDirectory: join(directory, 'mail'),
      peppers: secrets.peppers,
      sealingKeys: secrets.sealing_keys,
      credentials: secrets.credentials,
    };
    return {
      plan,
      postgresUrl,
      gatewayUrls: [localUrl(plan.ports.gateway), localUrl(port('gateway-2', 'public'))],
      mails: () => readMails(plan.mailDirectory),
      migrate: async (release) => {
        await program(release, 'migrate', { DATABASE_URL: postgresUrl });
      },
      seed: async (release) => {
        const env = {
          DATABASE_URL: postgresUrl,
          CLIENT_SECRET_PEPPERS: secrets.peppers,
          TOKEN_SEALING_KEYS: secrets.sealing_keys,
        };
        const { manager, member } = secrets;
        const ids = await program(release, 'seed', env, JSON.stringify({ manager, member }));
        return localDemo(plan, secrets, JSON.parse(ids) as SampleIds);
      },
      replace: async (replica, release, settings) => {
        const service: ServiceName = replica === 'account' || replica === 'auth' ? replica : 'gateway';
        const [publicPort, privatePort] = [await freePort(), await freePort()];
        const next = await startService({
          name: replica,
          node: release.node,
          entry: join(release.directory, `services/${service}/src/main.ts`),
          env: {
            ...release.settings(settings)[service],
            PUBLIC_PORT: String(publicPort),
            PRIVATE_PORT: String(privatePort),
          },
          cwd: release.directory,
          logFile: logOf(replica),
          readyUrl: `${localUrl(privatePort)}/health/ready`,
          onSpawn,
        });
        addresses[replica].public.moveTo(localUrl(publicPort));
        addresses[replica].private.moveTo(localUrl(privatePort));
        const exit = await running.get(replica)?.stop({ timeLimitMs: STOP_TIME_LIMIT_MS });
        running.set(replica, next);
        if (exit !== undefined && exit.code !== 0) {
          throw new Error(`${replica} ended with ${describeExit(exit)}`);
        }
      },
      startSample,
      errors: () => REPLICAS.flatMap((replica) => errorsIn(logs, replica)),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

function errorsIn(logs: string, replica: Replica): string[] {
  if (!readdirSync(logs).includes(`${replica}.log`)) return [];
  const messages = new Map<string, number>();
  for (const line of readFileSync(join(logs, `${replica}.log`), 'utf8').split('\n')) {
    // Node.js' own warnings are no JSON.
    if (!line.startsWith('{')) continue;
    const { level, msg, err } = JSON.parse(line) as {
      level: string;
      msg: string;
      err?: { message?: string };
    };
    if (!ERROR_LEVELS.includes(level)) continue;
    const message = `${replica}: ${msg}${err?.message === undefined ? '' : ` (${err.message})`}`;
    messages.set(message, (messages.get(message) ?? 0) + 1);
  }
  return [...messages].map(([message, times]) => `${message} × ${String(times)}`);
}
