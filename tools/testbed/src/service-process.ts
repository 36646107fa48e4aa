import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { answersOk } from '@tollgate/stack/health';
import { freePort } from '@tollgate/stack/ports';
import type { Exit } from '@tollgate/stack/process';
import { signalProcess } from '@tollgate/stack/process-identity';
import { startService } from '@tollgate/stack/service';
import { waitFor } from '@tollgate/stack/wait-for';
import { compileCache, plainHttp, runDirectory, usesOwnProcesses } from './config.ts';
import { programFile } from './programs.ts';
import { newDirectory, register } from './run.ts';
import { runInHost } from './service-hosts.ts';
import type { RunOptions, ServiceRun } from './service-hosts.ts';

/** Every service of a suite accepts it on its private listener, and uses it at the others'. */
export const serviceCredential = { id: 'testbed', secret: randomBytes(24).toString('base64url') };

export const clientSecretPeppers = `p1:${randomBytes(32).toString('base64')}`;

export const tokenSealingKeys = `k1:${randomBytes(32).toString('base64')}`;

export type ServiceName = 'auth' | 'account' | 'gateway';

export type ServiceProcess = {
  publicUrl: string;
  privateUrl: string;
  /** Of the process that runs it now, or ran it last. */
  pid: () => number;
  stop: () => Promise<Exit>;
  kill: () => Promise<void>;
  /** SIGSTOP: connections stay open and get no reply. */
  freeze: () => void;
  thaw: () => void;
  /** At the same addresses, after stop or kill; `changed` overrides settings. */
  restart: (changed?: Readonly<Record<string, string>>) => Promise<void>;
  logs: () => string;
};

const ATTEMPTS = 5;

/** What Node.js reads when a process starts. */
const PROCESS_SETTINGS = ['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS', 'TZ', 'UV_THREADPOOL_SIZE'];

/**
 * Resolves when /health/live answers. `env` overrides defaults; nothing is inherited. Services that call each
 * other need their ports beforehand: choose PUBLIC_PORT and PRIVATE_PORT by freePort. The process has run the service
 * for other suites before, unless `ownProcesses` or a setting demands a new one.
 * @throws {Error} with the log's last lines if it doesn't start
 */
export async function startServiceProcess(
  name: ServiceName,
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  for (let attempt = 1; ; attempt += 1) {
    const ports = {
      PUBLIC_PORT: env['PUBLIC_PORT'] ?? String(await freePort()),
      PRIVATE_PORT: env['PRIVATE_PORT'] ?? String(await freePort()),
    };
    try {
      return await startWithPorts(name, { ...env, ...ports }, ports);
    } catch (error) {
      // Another process may take a port before its use.
      const isTaken = error instanceof Error && error.message.includes('is taken by another process');
      if (attempt === ATTEMPTS || !isTaken) throw error;
    }
  }
}

async function startWithPorts(
  name: ServiceName,
  env: Readonly<Record<string, string>>,
  ports: { PUBLIC_PORT: string; PRIVATE_PORT: string },
): Promise<ServiceProcess> {
  const privateUrl = `http://127.0.0.1:${ports.PRIVATE_PORT}`;
  const runs: ServiceRun[] = [];
  const start = async (changed: Readonly<Record<string, string>> = {}) => {
    const settings = { ...serviceDefaults(), ...env, ...changed, ...ports };
    const isOwn = usesOwnProcesses() || PROCESS_SETTINGS.some((setting) => setting in settings);
    const run = isOwn ? runByItself : runInHost;
    runs.push(await run(name, { env: settings, readyUrl: `${privateUrl}/health/live` }));
  };
  const current = () => runs.at(-1) as ServiceRun;
  await start();
  return {
    publicUrl: `http://127.0.0.1:${ports.PUBLIC_PORT}`,
    privateUrl,
    pid: () => current().pid,
    stop: () => current().stop({ timeLimitMs: 15_000 }),
    kill: async () => {
      await current().stop({ signal: 'SIGKILL' });
    },
    freeze: () => {
      signalProcess(current().pid, 'SIGSTOP');
    },
    thaw: () => {
      signalProcess(current().pid, 'SIGCONT');
    },
    restart: start,
    logs: () => runs.map((run) => run.logs()).join(''),
  };
}

/** By main.ts, as in production. */
async function runByItself(name: ServiceName, { env, readyUrl }: RunOptions): Promise<ServiceRun> {
  const logFile = join(newDirectory(runDirectory(), name), 'log');
  const { identity, stop } = await startService({
    name,
    entry: programFile(`services/${name}`, 'main'),
    env: { ...compileCache(), ...env },
    logFile,
    readyUrl,
    onSpawn: register(runDirectory()),
  });
  return { pid: identity.pid, stop, logs: () => readFileSync(logFile, 'utf8') };
}

/** Resolves when it serves; auth may still be loading manual tokens, without which it answers correctly, too. */
export async function becomeReady({ privateUrl }: Pick<ServiceProcess, 'privateUrl'>): Promise<void> {
  await waitFor(() => answersOk(`${privateUrl}/health/ready`), { what: `${privateUrl} to be ready` });
}

export function serviceDefaults(): Record<string, string> {
  return {
    PUBLIC_HOST: '127.0.0.1',
    PRIVATE_HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    SERVICE_CREDENTIALS: `${serviceCredential.id}:${serviceCredential.secret}`,
    SERVICE_CLIENT_ID: serviceCredential.id,
    SERVICE_CLIENT_SECRET: serviceCredential.secret,
    CLIENT_SECRET_PEPPERS: clientSecretPeppers,
    // The default is half a second, which each service of each suite would wait at its end.
    SHUTDOWN_IDLE_GRACE_MS: '50',
    PUBLIC_URL: 'http://tollgate.example',
    MAIL_DIR: join(runDirectory(), 'mail'),
    // account and auth: every answer is checked against its schema.
    CHECK_ANSWERS: 'true',
    TOKEN_SEALING_KEYS: tokenSealingKeys,
    PLAIN_HTTP: plainHttp(),
  };
}
