import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createLogger } from '@tollgate/log';
import { openRedis } from '@tollgate/redis';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import { copyDatabase, restoreDatabase } from '@tollgate/stack/database-copy';
import type { ManagedProcess } from '@tollgate/stack/process';
import { signalProcess } from '@tollgate/stack/process-identity';
import { operatorsUrl } from '@tollgate/stack/service-settings';
import { waitFor } from '@tollgate/stack/wait-for';
import { startDnsServer } from '@tollgate/testbed/dns-server';
import { startOidcProvider } from '@tollgate/testbed/oidc-provider';
import { storesDirectory } from '@tollgate/testbed/stores-directory';
import { localDemo } from '../../../scripts/launcher/demo.ts';
import { buildBooks, launch } from '../../../scripts/launcher/launch.ts';
import { freePortBase } from '../../../scripts/launcher/running-launcher.ts';
import { readSettings } from '../../../scripts/launcher/settings.ts';
import { makeStateDirectory, statePaths } from '../../../scripts/launcher/state.ts';
import { createSupervisor } from '../../../scripts/launcher/supervisor.ts';
import { readMails } from './mails.ts';
import { FORGET_TOKENS } from './stack.ts';
import type { Part, Stack } from './stack.ts';

/** Its stores can be reached by the suite too. */
export type ProcessStack = Stack & { postgresUrl: string; redisUrl: string };

type WatchedPart = { process: ManagedProcess; startAgain: () => Promise<ManagedProcess> };

/**
 * Starts the stack of `npm start`, by its own code, in a directory and on ports of its own. Only what watches
 * over the processes is another: a killed part stays down until the suite starts it again.
 *
 * @throws {Error} with the end of the log of what doesn't come up; nothing is left running.
 */
export async function startProcessStack(): Promise<ProcessStack> {
  const directory = await mkdtemp(join(storesDirectory(), 'tollgate-e2e-'));
  // As root, Postgres runs as a user of its own, who must get through to its data.
  await chmod(directory, 0o711);
  makeStateDirectory(directory);
  const settings = readSettings({ TOLLGATE_DIR: directory, PORT_BASE: String(await freePortBase()) });
  // All the specs' people sign up from one address; services take settings that aren't given from the environment.
  process.env['MAIL_REQUESTS_PER_ADDRESS'] ??= '1000';
  // A renewal that isn't paid blocks calls within a journey.
  process.env['PAYMENT_GRACE_SEC'] ??= '45';
  // Its own address: no DNS server resolves localhost, and teams' providers are looked up there.
  const identityProvider = await startOidcProvider(operatorsUrl(settings.ports.accountPrivate), '127.0.0.1');
  const dns = await startDnsServer();
  const oidc = {
    OPERATORS_OIDC_ISSUER: identityProvider.issuer,
    OPERATORS_OIDC_CLIENT_ID: identityProvider.clientId,
    OPERATORS_OIDC_CLIENT_SECRET: identityProvider.clientSecret,
    OPERATORS_OIDC_GROUPS: 'help desk=support',
    DNS_SERVERS: dns.address,
    TEAM_SSO_ALLOWED_HOSTS: '127.0.0.1',
  };
  Object.assign(process.env, oidc);
  const say = () => undefined;
  const parts = new Map<string, WatchedPart>();
  const watch = (process: ManagedProcess, startAgain: WatchedPart['startAgain']) => {
    parts.set(process.name, { process, startAgain });
  };
  const supervisor = { ...createSupervisor(statePaths(directory).ledger, say), watch };
  const stop = async () => {
    await supervisor.stopAll();
    await identityProvider.stop();
    await dns.close();
    // The next suite of this process has a provider of its own, or none.
    for (const name of Object.keys(oidc)) Reflect.deleteProperty(process.env, name);
    await rm(directory, { recursive: true });
  };
  const partOf = (name: Part): WatchedPart => {
    const part = parts.get(name);
    if (part === undefined) throw new Error(`${name} was never started`);
    return part;
  };
  try {
    const secrets = newSampleSecrets();
    const postgresUrl = `postgres://postgres:${secrets.postgres_password}@127.0.0.1:${String(settings.ports.postgres)}/tollgate`;
    const redisUrl = `redis://:${secrets.redis_password}@127.0.0.1:${String(settings.ports.redis)}`;
    const context = { settings, secrets, supervisor, say };
    const [ids] = await Promise.all([launch(context), buildBooks(context)]);
    return {
      kind: 'processes',
      postgresUrl,
      redisUrl,
      identityProvider,
      dns,
      demo: localDemo(settings, secrets, ids),
      payments: {
        url: `http://127.0.0.1:${String(settings.ports.payments)}`,
        secretKey: secrets.payments.secret_key,
      },
      kill: async (name) => {
        await partOf(name).process.stop({ signal: 'SIGKILL' });
      },
      start: async (name) => {
        const { startAgain } = partOf(name);
        watch(await startAgain(), startAgain);
      },
      pause: (name) => {
        signalProcess(partOf(name).process.identity.pid, 'SIGSTOP');
        return Promise.resolve();
      },
      resume: (name) => {
        signalProcess(partOf(name).process.identity.pid, 'SIGCONT');
        return Promise.resolve();
      },
      mails: () => readMails(statePaths(directory).mail),
      forgetTokens: () => forgetTokens(redisUrl),
      backUpPostgres: () => copyDatabase(postgresUrl),
      restorePostgres: () => restoreDatabase(postgresUrl),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function forgetTokens(redisUrl: string): Promise<void> {
  const redis = openRedis(redisUrl, createLogger('e2e', 'silent'));
  try {
    await waitFor(() => redis.status === 'ready');
    await redis.eval(FORGET_TOKENS, 0);
  } finally {
    redis.disconnect();
  }
}
