import type { RequestListener } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import type { Registry } from 'prom-client';
import { ConfigError } from '@tollgate/config';
import { callerAddressOf, createTrust } from '@tollgate/http/caller-address';
import type { TrustsAddress } from '@tollgate/http/caller-address';
import type { HttpHandler } from '@tollgate/plain-http/message';
import type { AddressOf } from '@tollgate/http/error-handler';
import { createLogger } from '@tollgate/log';
import type { Logger } from '@tollgate/log';
import { createAccessLog } from '@tollgate/log/access-log';
import type { AccessLog } from '@tollgate/log/access-log';
import type { DrainLimits } from './listener/connections.ts';
import type { FastPath } from '@tollgate/plain-http/server';
import { PortTakenError, createListener } from './listener/listener.ts';
import type { Listener, OnRefusedHead, UpgradeHandler } from './listener/listener.ts';
import type { ReceiveLimits } from './listener/slow-requests.ts';
import { Refusal } from './refusal.ts';
import { createRegistry } from './registry.ts';

export type Service = {
  /** Without it, there is no public listener. */
  publicHandler?: RequestListener;
  privateHandler: RequestListener;
  /** A path below which the private listener serves proxies; nothing else of it does. */
  proxiedBelow?: string | undefined;
  onRefusedHead?: OnRefusedHead;
  upgradeHandler?: UpgradeHandler;
  continueHandler?: RequestListener;
  prepare?: HttpHandler;
  fastPath?: FastPath;
  privateFastPath?: FastPath;
  /** Ends open WebSockets while the requests under way finish. */
  drain?: (limits: DrainLimits) => Promise<void>;
  /** Called after both listeners have closed. */
  close: () => Promise<void>;
};

export type ComposeContext<Config> = {
  config: Config;
  logger: Logger;
  registry: Registry;
  draining: () => boolean;
  /** Whether an address is one of TRUSTED_PROXIES. */
  trusts: TrustsAddress;
  /** Where a request came from, as far as TRUSTED_PROXIES say so; empty if the caller has gone. */
  addressOf: AddressOf;
  /** The public listener's; null if it is off. */
  accessLog: AccessLog | null;
};

type ProcessConfig = {
  LOG_LEVEL: string;
  ACCESS_LOG: 'off' | 'stdout' | 'stderr';
  TRUSTED_PROXIES: readonly string[];
  PUBLIC_HOST: string;
  PUBLIC_PORT: number;
  PRIVATE_HOST: string;
  PRIVATE_PORT: number;
  SHUTDOWN_DELAY_MS: number;
  SHUTDOWN_TIMEOUT_MS: number;
  SHUTDOWN_IDLE_GRACE_MS: number;
  MAX_URL_BYTES: number;
  MAX_HEADER_BYTES: number;
  MAX_HEADER_COUNT: number;
  PLAIN_HTTP: 'off' | 'on';
  REQUEST_IDLE_TIMEOUT_MS?: number;
  REQUEST_RECEIVE_TIMEOUT_MS?: number;
};

/** The rest of a shutdown's time is for closing, where usage is flushed. */
const CUT_AFTER_SHARE = 0.7;

/**
 * Runs a service: config → compose → listen → SIGTERM or SIGINT → SHUTDOWN_DELAY_MS without readiness (a second signal
 * ends it) → finish requests, or cut them off → close → exit 0. Exits with 1 on configuration faults, a Refusal of compose, a taken port,
 * or a shutdown longer than SHUTDOWN_TIMEOUT_MS.
 */
export async function runService<Config extends ProcessConfig>(
  name: string,
  loadConfig: () => Config,
  compose: (context: ComposeContext<Config>) => Promise<Service>,
): Promise<void> {
  const config = orExit(loadConfig);
  const logger = createLogger(name, config.LOG_LEVEL);
  const registry = createRegistry(name);
  let stopping = false;
  const secondSignal = Promise.withResolvers<undefined>();

  const callers = observeCallers(name, config);
  const composed = compose({ config, logger, registry, draining: () => stopping, ...callers });
  const service = await orFatal(composed, Refusal, logger);
  const listeners = listenersOf(service, config, callers.accessLog);

  async function stop(signal: string): Promise<void> {
    if (stopping) {
      secondSignal.resolve(undefined);
      return;
    }
    stopping = true;
    logger.info({ signal, delay_ms: config.SHUTDOWN_DELAY_MS }, 'shutting down');
    // A load balancer sends new connections until it sees that this process isn't ready.
    await Promise.race([delay(config.SHUTDOWN_DELAY_MS), secondSignal.promise]);
    const overrun = setTimeout(() => {
      logger.error({ limit_ms: config.SHUTDOWN_TIMEOUT_MS }, 'shutdown took too long');
      process.exit(1);
    }, config.SHUTDOWN_TIMEOUT_MS);
    const drainLimits = {
      idleGraceMs: Math.min(config.SHUTDOWN_IDLE_GRACE_MS, config.SHUTDOWN_TIMEOUT_MS / 4),
      cutAfterMs: config.SHUTDOWN_TIMEOUT_MS * CUT_AFTER_SHARE,
    };
    await Promise.all([
      ...listeners.map((listener) => listener.close(drainLimits)),
      service.drain?.(drainLimits),
    ]);
    await service.close();
    clearTimeout(overrun);
    logger.info('shut down');
    // A library's timer may still hold the event loop.
    process.exit(0);
  }
  process.on('SIGTERM', (signal) => void stop(signal));
  process.on('SIGINT', (signal) => void stop(signal));

  for (const listener of listeners) await orFatal(listener.listen(), PortTakenError, logger);
  const public_port = service.publicHandler === undefined ? null : config.PUBLIC_PORT;
  logger.info({ public_port, private_port: config.PRIVATE_PORT }, 'listening');
}

/** Ends the process with 1 and the message of an expected error. */
async function orFatal<T>(
  started: Promise<T>,
  Expected: typeof Refusal | typeof PortTakenError,
  logger: Logger,
): Promise<T> {
  try {
    return await started;
  } catch (error) {
    if (!(error instanceof Expected)) throw error;
    logger.fatal(error.message);
    process.exit(1);
  }
}

function listenersOf(service: Service, config: ProcessConfig, accessLog: AccessLog | null): Listener[] {
  const limits = {
    maxUrlBytes: config.MAX_URL_BYTES,
    maxHeaderBytes: config.MAX_HEADER_BYTES,
    maxHeaderCount: config.MAX_HEADER_COUNT,
  };
  const receiveLimits = receiveLimitsOf(config);
  const isPlain = config.PLAIN_HTTP === 'on';
  const privateListener = createListener(service.privateHandler, {
    name: 'private',
    host: config.PRIVATE_HOST,
    port: config.PRIVATE_PORT,
    setting: 'PRIVATE_PORT',
    directOnly: true,
    proxiedBelow: service.proxiedBelow,
    fastPath: isPlain ? service.privateFastPath : undefined,
    limits,
    receiveLimits,
  });
  if (service.publicHandler === undefined) return [privateListener];
  return [
    createListener(service.publicHandler, {
      name: 'public',
      host: config.PUBLIC_HOST,
      port: config.PUBLIC_PORT,
      setting: 'PUBLIC_PORT',
      limits,
      receiveLimits,
      accessLog,
      onRefusedHead: service.onRefusedHead,
      upgradeHandler: service.upgradeHandler,
      continueHandler: service.continueHandler,
      prepare: service.prepare,
      fastPath: isPlain ? service.fastPath : undefined,
    }),
    privateListener,
  ];
}

function receiveLimitsOf({
  REQUEST_IDLE_TIMEOUT_MS: idleMs,
  REQUEST_RECEIVE_TIMEOUT_MS: totalMs,
}: ProcessConfig): ReceiveLimits | undefined {
  return idleMs === undefined || totalMs === undefined ? undefined : { idleMs, totalMs };
}

function observeCallers(
  name: string,
  { ACCESS_LOG, TRUSTED_PROXIES }: Pick<ProcessConfig, 'ACCESS_LOG' | 'TRUSTED_PROXIES'>,
): Pick<ComposeContext<never>, 'trusts' | 'addressOf' | 'accessLog'> {
  const trusts = createTrust(TRUSTED_PROXIES);
  const addressOf: AddressOf = (req) => callerAddressOf(req, trusts);
  const accessLog = ACCESS_LOG === 'off' ? null : createAccessLog(name, process[ACCESS_LOG], addressOf);
  return { trusts, addressOf, accessLog };
}

/** Returns what `load` does; prints a ConfigError and exits with 1. */
export function orExit<T>(load: () => T): T {
  try {
    return load();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}
