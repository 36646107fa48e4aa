import { join } from 'node:path';
import type { SampleIds } from '@tollgate/sample/demo';
import type { SampleSecrets } from '@tollgate/sample/secrets';
import { startPostgres } from '@tollgate/stack/postgres';
import { runCommand } from '@tollgate/stack/process';
import type { ManagedProcess } from '@tollgate/stack/process';
import { findRedis } from '@tollgate/stack/redis-program';
import { startRedis } from '@tollgate/stack/redis';
import { startService } from '@tollgate/stack/service';
import { localUrl, serviceSettings } from '@tollgate/stack/service-settings';
import type { ServiceName, StackPlan } from '@tollgate/stack/service-settings';
import { PAGE_BUILDS } from '../../tools/images/src/build/account-pages.ts';
import { requireRedis } from './given-redis.ts';
import type { Settings } from './settings.ts';
import { statePaths } from './state.ts';
import type { StatePaths } from './state.ts';
import type { Supervisor } from './supervisor.ts';

const { console: CONSOLE, ...BOOKS } = PAGE_BUILDS;

export type LaunchContext = {
  settings: Settings;
  secrets: SampleSecrets;
  supervisor: Supervisor;
  say: (line: string) => void;
  /** Receives the settings of the services, for callers that start more of them. */
  onPlan?: (plan: StackPlan) => void;
};

/** Resolves when all parts but the books are ready; each starts as soon as what it needs is there. */
export async function launch(context: LaunchContext): Promise<SampleIds> {
  const { settings, say } = context;
  const upstream = timed(say, 'Sample upstream', () => startSample(context, 'upstream', {}));
  const payments = timed(say, 'Sample payments', () => startPayments(context));
  const redis = timed(say, 'Redis', () => redisUrl(context));
  const database = timed(say, 'Postgres', () => databaseUrl(context)).then(async (url) => {
    await timed(say, 'Schema', () => runAccountProgram(context, 'migrate', { DATABASE_URL: url }));
    return url;
  });
  const webInterface = timed(say, 'Web interface', () => buildPages(context, { console: CONSOLE }));
  const sample = database.then((url) => timed(say, 'Sample accounts', () => seed(context, url)));
  const services = Promise.all([database, redis]).then(async ([postgresUrl, redisAddress]) => {
    const { credentials, peppers, sealing_keys: sealingKeys } = context.secrets;
    const { ports } = settings;
    const addresses = {
      databaseUrl: postgresUrl,
      redisUrl: redisAddress,
      upstreamUrl: `${localUrl(ports.upstream)}/graphql`,
      schemaUrl: `${localUrl(ports.upstream)}/schema.graphql`,
      mailDirectory: statePaths(settings.directory).mail,
    };
    const { secret_key: secretKey, webhook_secret: webhookSecret } = context.secrets.payments;
    const sold = { url: localUrl(ports.payments), secretKey, webhookSecret };
    const plan = { ports, credentials, peppers, sealingKeys, payments: sold, ...addresses };
    context.onPlan?.(plan);
    const start = serviceStarter(context, serviceSettings(plan));
    // account finds the web interface when it is there.
    await Promise.all([start('auth'), sample.then(() => start('account')), start('gateway')]);
  });
  const [ids] = await Promise.all([sample, services, upstream, payments, webInterface]);
  return ids;
}

/** account serves the books as soon as they are there. */
export async function buildBooks(context: LaunchContext): Promise<void> {
  await timed(context.say, 'Documentation', () => buildPages(context, BOOKS));
}

async function keepRunning(
  { supervisor }: LaunchContext,
  start: () => Promise<ManagedProcess>,
): Promise<void> {
  supervisor.watch(await start(), start);
}

function serviceStarter(
  context: LaunchContext,
  all: Record<ServiceName, Record<string, string>>,
): (name: ServiceName) => Promise<void> {
  const { project, directory } = context.settings;
  return (name) =>
    timed(context.say, `Service ${name}`, () =>
      keepRunning(context, () =>
        startService({
          name,
          entry: join(project, `services/${name}/src/main.ts`),
          env: withSettings(all[name]),
          cwd: project,
          logFile: logFile(statePaths(directory), name),
          readyUrl: `http://127.0.0.1:${all[name]['PRIVATE_PORT'] ?? ''}/health/ready`,
          onSpawn: context.supervisor.onSpawn,
        }),
      ),
    );
}

function startPayments(context: LaunchContext): Promise<void> {
  const { settings, secrets } = context;
  const { secret_key, webhook_secret } = secrets.payments;
  return startSample(context, 'payments', {
    SECRET_KEY: secret_key,
    // Through the gateway, as Stripe's events come.
    WEBHOOK_URL: `${localUrl(settings.ports.gateway)}/payments/stripe/events`,
    WEBHOOK_SECRET: webhook_secret,
    STATE_PATH: statePaths(settings.directory).payments,
  });
}

async function startSample(
  context: LaunchContext,
  name: 'upstream' | 'payments',
  env: Record<string, string>,
): Promise<void> {
  const { project, directory, ports } = context.settings;
  await keepRunning(context, () =>
    startService({
      name,
      entry: join(project, `sample-${name}/src/main.ts`),
      env: withSettings({ NODE_ENV: 'production', HOST: '127.0.0.1', PORT: String(ports[name]), ...env }),
      cwd: project,
      logFile: logFile(statePaths(directory), name),
      readyUrl: `${localUrl(ports[name])}/health`,
      onSpawn: context.supervisor.onSpawn,
    }),
  );
}

async function databaseUrl(context: LaunchContext): Promise<string> {
  const { settings, secrets, supervisor } = context;
  const paths = statePaths(settings.directory);
  let url = '';
  await keepRunning(context, async () => {
    const postgres = await startPostgres({
      dataDir: paths.postgresData,
      port: settings.ports.postgres,
      password: secrets.postgres_password,
      database: 'tollgate',
      logFile: logFile(paths, 'postgres'),
      onSpawn: supervisor.onSpawn,
    });
    url = postgres.url;
    return postgres.process;
  });
  return url;
}

async function redisUrl(context: LaunchContext): Promise<string> {
  const { settings, secrets, supervisor, say } = context;
  if (settings.redisUrl !== undefined) {
    await requireRedis(settings.redisUrl);
    return settings.redisUrl;
  }
  const paths = statePaths(settings.directory);
  const { onSpawn } = supervisor;
  const program = await findRedis({ logFile: logFile(paths, 'find-redis'), say, onSpawn });
  let url = '';
  await keepRunning(context, async () => {
    const redis = await startRedis({
      program,
      dataDir: paths.redisData,
      port: settings.ports.redis,
      password: secrets.redis_password,
      logFile: logFile(paths, 'redis'),
      onSpawn,
    });
    url = redis.url;
    return redis.process;
  });
  return url;
}

async function seed(context: LaunchContext, url: string): Promise<SampleIds> {
  const { manager, member, peppers, sealing_keys } = context.secrets;
  const env = { DATABASE_URL: url, CLIENT_SECRET_PEPPERS: peppers, TOKEN_SEALING_KEYS: sealing_keys };
  return JSON.parse(
    await runAccountProgram(context, 'seed', env, JSON.stringify({ manager, member })),
  ) as SampleIds;
}

/** The web interface, or the books; each is skipped if its sources haven't changed. */
async function buildPages(
  { settings, supervisor }: LaunchContext,
  builds: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const build = ([name, args]: [string, readonly string[]]) =>
    runCommand({
      name,
      command: process.execPath,
      args: [...args, '--uncompressed'],
      env: process.env,
      cwd: settings.project,
      logFile: logFile(statePaths(settings.directory), name),
      onSpawn: supervisor.onSpawn,
    });
  await Promise.all(Object.entries(builds).map(build));
}

function runAccountProgram(
  { settings, supervisor }: LaunchContext,
  name: 'migrate' | 'seed',
  env: Record<string, string>,
  input?: string,
): Promise<string> {
  return runCommand({
    name,
    command: process.execPath,
    args: [join(settings.project, `services/account/src/programs/${name}.ts`)],
    env: withSettings(env),
    cwd: settings.project,
    logFile: logFile(statePaths(settings.directory), name),
    ...(input === undefined ? {} : { input }),
    onSpawn: supervisor.onSpawn,
  });
}

/** The user's environment applies (LOG_LEVEL=debug npm start), but the stack's own settings win. */
function withSettings(settings: Record<string, string>): Record<string, string | undefined> {
  const files = Object.keys(settings).map((name) => [`${name}_FILE`, undefined] as const);
  return { ...process.env, ...Object.fromEntries(files), ...settings };
}

function logFile({ logs }: StatePaths, name: string): string {
  return join(logs, `${name}.log`);
}

async function timed<T>(say: (line: string) => void, name: string, work: () => Promise<T>): Promise<T> {
  const started = performance.now();
  const result = await work();
  say(`${name} ready (${((performance.now() - started) / 1_000).toFixed(1)} s)`);
  return result;
}
