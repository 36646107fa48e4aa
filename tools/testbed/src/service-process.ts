import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '@tollgate/stack/ports';
import type { Exit } from '@tollgate/stack/process';
import { signalProcess } from '@tollgate/stack/process-identity';
import { startService } from '@tollgate/stack/service';
import { compileCache, runDirectory } from './config.ts';
import { newDirectory, register } from './run.ts';

/** The credential that every service of this suite accepts on its private listener, and uses at the others'. */
export const serviceCredential = { id: 'testbed', secret: randomBytes(24).toString('base64url') };

/** `CLIENT_SECRET_PEPPERS` of every service of this suite. */
export const clientSecretPeppers = `p1:${randomBytes(32).toString('base64')}`;

/** `TOKEN_SEALING_KEYS` of this suite's account. */
export const tokenSealingKeys = `k1:${randomBytes(32).toString('base64')}`;

export type ServiceName = 'auth' | 'account' | 'gateway';

export type ServiceProcess = {
  publicUrl: string;
  privateUrl: string;
  /** SIGTERM; resolves with how it ended. */
  stop: () => Promise<Exit>;
  /** SIGKILL. */
  kill: () => Promise<void>;
  /** SIGSTOP: it keeps its connections and answers nothing, until it goes on. */
  freeze: () => void;
  /** SIGCONT. */
  thaw: () => void;
  /** Starts it again at the same addresses, after stop or kill, with changed settings if any are given. */
  restart: (changed?: Readonly<Record<string, string>>) => Promise<void>;
  /** All that it has written to stdout and stderr. */
  logs: () => string;
};

const ATTEMPTS = 5;

/**
 * Starts a service as a process of its own and resolves when its /health/live answers. Settings that every
 * service needs have a default here; `env` overrides them. Nothing of the suite's own environment is inherited.
 * Free ports are chosen unless env names PUBLIC_PORT and PRIVATE_PORT (services that call each other need to
 * know them before they start: choose them by freePort).
 *
 * @throws {Error} with the log's last lines when it doesn't start.
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
    const logFile = join(newDirectory(runDirectory(), name), 'log');
    try {
      return await startWithPorts(name, { ...env, ...ports }, ports, logFile);
    } catch (error) {
      // Between the choice of a port and its use another process may take it.
      const retry =
        attempt < ATTEMPTS && readFileSync(logFile, 'utf8').includes('is taken by another process');
      if (!retry) throw error;
    }
  }
}

async function startWithPorts(
  name: ServiceName,
  env: Readonly<Record<string, string>>,
  ports: { PUBLIC_PORT: string; PRIVATE_PORT: string },
  logFile: string,
): Promise<ServiceProcess> {
  const privateUrl = `http://127.0.0.1:${ports.PRIVATE_PORT}`;
  const start = (changed: Readonly<Record<string, string>> = {}) =>
    startService({
      name,
      entry: resolve(import.meta.dirname, `../../../services/${name}/src/main.ts`),
      env: { ...compileCache(), ...serviceDefaults(), ...env, ...changed, ...ports },
      logFile,
      readyUrl: `${privateUrl}/health/live`,
      onSpawn: register(runDirectory()),
    });
  let service = await start();
  return {
    publicUrl: `http://127.0.0.1:${ports.PUBLIC_PORT}`,
    privateUrl,
    stop: () => service.stop({ timeLimitMs: 15_000 }),
    kill: async () => {
      await service.stop({ signal: 'SIGKILL' });
    },
    freeze: () => {
      signalProcess(service.identity.pid, 'SIGSTOP');
    },
    thaw: () => {
      signalProcess(service.identity.pid, 'SIGCONT');
    },
    restart: async (changed) => {
      service = await start(changed);
    },
    logs: () => readFileSync(logFile, 'utf8'),
  };
}

/** The settings that every service of this suite has, unless it is started with others. */
export function serviceDefaults(): Record<string, string> {
  return {
    PUBLIC_HOST: '127.0.0.1',
    PRIVATE_HOST: '127.0.0.1',
    LOG_LEVEL: 'info',
    SERVICE_CREDENTIALS: `${serviceCredential.id}:${serviceCredential.secret}`,
    SERVICE_CLIENT_ID: serviceCredential.id,
    SERVICE_CLIENT_SECRET: serviceCredential.secret,
    CLIENT_SECRET_PEPPERS: clientSecretPeppers,
    // Half a second by default, which every service of every suite would wait at its end.
    SHUTDOWN_IDLE_GRACE_MS: '50',
    PUBLIC_URL: 'http://tollgate.example',
    MAIL_DIR: join(runDirectory(), 'mail'),
    TOKEN_SEALING_KEYS: tokenSealingKeys,
  };
}
