import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import { freePort } from '@tollgate/stack/ports';
import type { ManagedProcess, OnSpawn } from '@tollgate/stack/process';
import { startService } from '@tollgate/stack/service';
import { localUrl, serviceSettings } from '@tollgate/stack/service-settings';
import type { ServiceName, StackPlan } from '@tollgate/stack/service-settings';
import { localDemo } from '../../scripts/launcher/demo.ts';
import type { Demo } from '../../scripts/launcher/demo.ts';
import { launch } from '../../scripts/launcher/launch.ts';
import { freePortBase } from '../../scripts/launcher/running-launcher.ts';
import { readSettings } from '../../scripts/launcher/settings.ts';
import type { Settings } from '../../scripts/launcher/settings.ts';
import { makeStateDirectory, statePaths } from '../../scripts/launcher/state.ts';
import { createSupervisor } from '../../scripts/launcher/supervisor.ts';
import { goesFirst, pin, sharesItsCore } from './cores.ts';
import type { Places } from './cores.ts';

/** Abuse limits still count in Redis, but let one client be the whole load. */
const RAISED_LIMITS = {
  TOKEN_REQUESTS_PER_CLIENT_PER_MINUTE: '10000000',
  MAX_LIVE_TOKENS_PER_APPLICATION: '10000000',
  INTROSPECTIONS_PER_CALLER_PER_SEC: '1000000',
};

/** On the compared core unless `place` is set. */
type FurtherService = { settings?: Record<string, string>; place?: string | undefined };

export type StartedService = { pid: number; url: string; privateUrl: string; stop: () => Promise<unknown> };

export type Servers = {
  demo: Demo;
  auth: { pid: number };
  /** 0 if the part wasn't started here. */
  pidOf: (name: string) => number;
  redisUrl: string;
  databaseUrl: string;
  credentials: StackPlan['credentials'];
  places: Places | undefined;
  /** Removed at the end. */
  directory: string;
  project: string;
  /** Must be told of every process that a part starts, so that it is ended too. */
  onSpawn: OnSpawn;
  startFurther: (name: ServiceName, options?: FurtherService) => Promise<StartedService>;
  peer: { pid: number; url: string; clientId: string; clientSecret: string };
};

export type BenchRun = {
  places: Places | undefined;
  say: (line: string) => void;
  profileDir: string | undefined;
};

export type ServersHandle = {
  /** Rejects when something doesn't come up. */
  started: Promise<Servers>;
  /** Also while it is starting. */
  stop: () => Promise<void>;
};

/** Runs the stack of `npm start`, in a directory and on ports of its own, and the peer. */
export async function startServers({ places, say, profileDir }: BenchRun): Promise<ServersHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  // As root, Postgres and the peers run as users of their own, who need access to their data.
  await chmod(directory, 0o711);
  makeStateDirectory(directory);
  const settings = readSettings({ TOLLGATE_DIR: directory, PORT_BASE: String(await freePortBase()) });
  const { project } = settings;
  const processes = new Map<string, ManagedProcess>();
  // Restarts nothing: a server that died would spoil the measurement.
  const supervisor = {
    ...createSupervisor(statePaths(directory).ledger, say),
    watch: (process: ManagedProcess) => {
      processes.set(process.name, process);
    },
  };
  const { onSpawn } = supervisor;
  const start = async (): Promise<Servers> => {
    const secrets = newSampleSecrets();
    // Processes inherit the core of this one; the two that are compared then move to theirs.
    pin(process.pid, places?.rest);
    Object.assign(process.env, RAISED_LIMITS);
    const planned = Promise.withResolvers<StackPlan>();
    const ids = await launch({ settings, secrets, supervisor, say, onPlan: planned.resolve });
    const plan = await planned.promise;
    const peer = await startPeer(settings, onSpawn);
    const pidOf = (name: string) => processes.get(name)?.identity.pid ?? 0;
    const auth = pidOf('auth');
    const redis = pidOf('redis');
    if (sharesItsCore(places) && redis !== 0 && !goesFirst(redis)) {
      say('Redis waits for the load generator: root alone may give it precedence');
    }
    pin(process.pid, places?.load);
    for (const pid of [auth, peer.pid]) pin(pid, places?.server);
    return {
      places,
      directory,
      project,
      onSpawn,
      peer,
      pidOf,
      demo: localDemo(settings, secrets, ids),
      auth: { pid: auth },
      redisUrl: plan.redisUrl,
      databaseUrl: plan.databaseUrl,
      credentials: plan.credentials,
      startFurther: furtherServices(plan, { settings, onSpawn, places, profileDir }),
    };
  };
  return {
    started: start(),
    stop: async () => {
      await supervisor.stopAll();
      await rm(directory, { recursive: true });
    },
  };
}

function furtherServices(
  plan: StackPlan,
  context: { settings: Settings; onSpawn: OnSpawn } & Pick<BenchRun, 'places' | 'profileDir'>,
): Servers['startFurther'] {
  const { settings, onSpawn, places, profileDir } = context;
  const { project, directory } = settings;
  let number = 1;
  return async (name, { settings: own = {}, place = places?.server } = {}) => {
    number += 1;
    const [port, privatePort] = [await freePort(), await freePort()];
    const privateUrl = localUrl(privatePort);
    const started = await startService({
      name: `${name}-${String(number)}`,
      entry: join(project, `services/${name}/src/main.ts`),
      env: {
        ...process.env,
        ...serviceSettings(plan)[name],
        PUBLIC_PORT: String(port),
        PRIVATE_PORT: String(privatePort),
        ...(name === 'gateway' && { STREAMING_URL: localUrl(port) }),
        ...(profileDir === undefined ? {} : { NODE_OPTIONS: profileOption(resolve(profileDir)) }),
        ...own,
      },
      cwd: project,
      logFile: join(statePaths(directory).logs, `${name}-${String(number)}.log`),
      readyUrl: `${privateUrl}/health/ready`,
      onSpawn,
    });
    pin(started.identity.pid, place);
    return { pid: started.identity.pid, url: localUrl(port), privateUrl, stop: () => started.stop() };
  };
}

/** A profile is written when the process ends. */
function profileOption(directory: string): string {
  return `--cpu-prof --cpu-prof-dir=${directory}`;
}

async function startPeer({ project, directory }: Settings, onSpawn: OnSpawn): Promise<Servers['peer']> {
  const port = await freePort();
  const url = localUrl(port);
  const { client_id: clientId, client_secret: clientSecret } = newSampleSecrets().manager.application;
  const { identity } = await startService({
    name: 'oidc-provider',
    entry: join(project, 'bench/peers/oidc-provider/server.ts'),
    env: { NODE_ENV: 'production', PORT: String(port), CLIENT_ID: clientId, CLIENT_SECRET: clientSecret },
    cwd: project,
    logFile: join(statePaths(directory).logs, 'oidc-provider.log'),
    readyUrl: `${url}/.well-known/openid-configuration`,
    onSpawn,
  });
  return { pid: identity.pid, url, clientId, clientSecret };
}
