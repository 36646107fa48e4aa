import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import { freePort } from '@tollgate/stack/ports';
import type { ManagedProcess } from '@tollgate/stack/process';
import { startService } from '@tollgate/stack/service';
import { localUrl } from '@tollgate/stack/service-settings';
import { localDemo } from '../../scripts/launcher/demo.ts';
import type { Demo } from '../../scripts/launcher/demo.ts';
import { launch } from '../../scripts/launcher/launch.ts';
import { freePortBase } from '../../scripts/launcher/running-launcher.ts';
import { readSettings } from '../../scripts/launcher/settings.ts';
import type { Settings } from '../../scripts/launcher/settings.ts';
import { makeStateDirectory, statePaths } from '../../scripts/launcher/state.ts';
import { createSupervisor } from '../../scripts/launcher/supervisor.ts';
import { pin } from './cores.ts';
import type { Places } from './cores.ts';

/** Limits against abuse count in Redis as ever, but let one client be the whole load. */
const RAISED_LIMITS = {
  TOKEN_REQUESTS_PER_CLIENT_PER_MINUTE: '10000000',
  INTROSPECTIONS_PER_CALLER_PER_SEC: '1000000',
};

export type Servers = {
  demo: Demo;
  auth: { pid: number };
  peer: { pid: number; url: string; clientId: string; clientSecret: string };
};

export type ServersHandle = {
  /** Rejects when something doesn't come up. */
  started: Promise<Servers>;
  /** Ends everything that was started, also while it still starts. */
  stop: () => Promise<void>;
};

/** Starts the stack of `npm start` by its own code, in a directory and on ports of its own, and the peer. */
export async function startServers(
  places: Places | undefined,
  say: (line: string) => void,
): Promise<ServersHandle> {
  const directory = await mkdtemp(join(tmpdir(), 'tollgate-bench-'));
  // As root, Postgres runs as a user of its own, who must get through to its data.
  await chmod(directory, 0o711);
  makeStateDirectory(directory);
  const settings = readSettings({ TOLLGATE_DIR: directory, PORT_BASE: String(await freePortBase()) });
  const processes = new Map<string, ManagedProcess>();
  // Nothing is started again: a server that died would spoil what is measured.
  const supervisor = {
    ...createSupervisor(statePaths(directory).ledger, say),
    watch: (process: ManagedProcess) => {
      processes.set(process.name, process);
    },
  };
  const start = async (): Promise<Servers> => {
    const secrets = newSampleSecrets();
    // What is started inherits the place of this process; the two that are compared then move to theirs.
    pin(process.pid, places?.rest);
    Object.assign(process.env, RAISED_LIMITS);
    const ids = await launch({ settings, secrets, supervisor, say });
    const peer = await startPeer(settings, supervisor.onSpawn);
    const auth = processes.get('auth')?.identity.pid ?? 0;
    pin(process.pid, places?.load);
    for (const pid of [auth, peer.pid]) pin(pid, places?.server);
    return { demo: localDemo(settings, secrets, ids), auth: { pid: auth }, peer };
  };
  return {
    started: start(),
    stop: async () => {
      await supervisor.stopAll();
      await rm(directory, { recursive: true });
    },
  };
}

async function startPeer(
  { project, directory }: Settings,
  onSpawn: (spawned: ManagedProcess) => void,
): Promise<Servers['peer']> {
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
