import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { promisify } from 'node:util';
import { REDIS_DATA_SETTINGS } from '@tollgate/redis/server-settings';
import { demoOf } from '@tollgate/sample/demo';
import type { SampleIds } from '@tollgate/sample/demo';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import type { SampleSecrets } from '@tollgate/sample/secrets';
import { copyStatements, restoreStatements } from '@tollgate/stack/database-copy';
import { freePort } from '@tollgate/stack/ports';
import { GenericContainer, Network, Wait } from 'testcontainers';
import type { StartedNetwork, StartedTestContainer } from 'testcontainers';
import {
  engineOf,
  execIn,
  kill,
  removeAll,
  RUN_LABEL,
  START_TIME_LIMIT_MS,
  startAgain,
  succeeds,
} from './container-control.ts';
import type { RunningPart } from './container-control.ts';
import { containerSettings, databaseUrl, SERVICE_PORTS } from './container-settings.ts';
import type { ServiceName } from './container-settings.ts';
import { buildImages, builtImage, POSTGRES_IMAGE, REDIS_IMAGE } from './images.ts';
import { FORGET_TOKENS } from './stack.ts';
import type { Part, Stack } from './stack.ts';

/** Commands inside the stores' containers that succeed once they answer callers. */
const POSTGRES_ANSWERS = 'pg_isready --host=127.0.0.1 --username=tollgate --dbname=tollgate';
const REDIS_ANSWERS = 'REDISCLI_AUTH="$REDIS_PASSWORD" redis-cli ping | grep -q PONG';

/** A stack whose containers can be looked into. */
export type ContainerStack = Stack & {
  containerId: (part: Part) => string;
  /** Runs a command in a part's container and returns what it printed on stdout; throws if it fails. */
  exec: (part: Part, command: string[], env?: Record<string, string>) => Promise<string>;
  /** Kills Postgres; another server takes its name in the network. */
  replacePostgres: (server: PostgresServer) => Promise<void>;
};

/** How a Postgres server differs from the stack's usual one. */
export type PostgresServer = {
  settings?: Readonly<Record<string, string>>;
  /** By their path in the container. */
  directories?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
};

/** What a container of the stack is made with. */
type Run = {
  id: string;
  network: StartedNetwork;
  secrets: SampleSecrets;
  logs: Map<string, string>;
};

/** An image of ours runs as an orchestrator would run it: no capability, nothing to write to. */
class HardenedContainer extends GenericContainer {
  constructor(image: string) {
    super(image);
    this.hostConfig.ReadonlyRootfs = true;
    this.withDroppedCapabilities('ALL').withSecurityOpt('no-new-privileges:true');
  }
}

/**
 * Builds the images and starts a whole Tollgate in containers, with random secrets and on free ports of this
 * machine, which the containers keep over kill and start.
 *
 * @throws {Error} with the end of what the containers logged; nothing is left behind.
 */
export async function startContainerStack(postgres: PostgresServer = {}): Promise<ContainerStack> {
  await buildImages();
  const run: Run = {
    id: randomUUID(),
    network: await new Network().start(),
    secrets: newSampleSecrets(),
    logs: new Map(),
  };
  try {
    return await startParts(run, postgres);
  } catch (error) {
    await removeAll(run);
    const logs = [...run.logs].map(([name, log]) => `--- ${name}\n${log.slice(-2_000)}`).join('\n');
    throw new Error(`The containers don't come up.\n${logs}`, { cause: error });
  }
}

async function startParts(run: Run, server: PostgresServer): Promise<ContainerStack> {
  // When one doesn't start, what the others start is to be removed with it: so each is waited for first.
  const first = [startPostgres(run, server), startRedis(run), startUpstream(run)] as const;
  await Promise.allSettled(first);
  const [postgres, redis, upstream] = await Promise.all(first);
  await runAccountProgram(run, 'migrate');
  const ids = JSON.parse(await runAccountProgram(run, 'seed')) as SampleIds;
  const services = [
    startService(run, 'auth'),
    startService(run, 'account'),
    startService(run, 'gateway'),
  ] as const;
  await Promise.allSettled(services);
  const [auth, account, gateway] = await Promise.all(services);
  const parts: Record<Part, RunningPart> = { postgres, redis, upstream, auth, account, gateway };
  const urls = {
    auth: auth.publicUrl,
    account: account.publicUrl,
    gateway: gateway.publicUrl,
    authPrivate: auth.privateUrl,
    accountPrivate: account.privateUrl,
    gatewayPrivate: gateway.privateUrl,
  };
  return {
    kind: 'containers',
    demo: demoOf(urls, run.secrets, ids),
    kill: (part) => kill(parts[part]),
    start: (part) => startAgain(part, parts[part]),
    pause: async (part) => {
      await (await engineOf(parts[part])).pause();
    },
    resume: async (part) => {
      await (await engineOf(parts[part])).unpause();
    },
    mails: () => readMails(parts.account),
    forgetTokens: () => forgetTokens(redis),
    backUpPostgres: () => runBeside(parts.postgres, copyStatements('tollgate')),
    restorePostgres: () => runBeside(parts.postgres, restoreStatements('tollgate')),
    stop: () => removeAll(run),
    containerId: (part) => parts[part].container.getId(),
    exec: (part, command, env) => execIn(parts[part], command, env),
    replacePostgres: async (next) => {
      await kill(parts.postgres);
      parts.postgres = await startPostgres(run, next);
    },
  };
}

/** What all containers of a run have in common. */
function prepared<Container extends GenericContainer>(
  run: Run,
  name: string,
  container: Container,
): Container {
  return container
    .withLabels({ [RUN_LABEL]: run.id })
    .withNetwork(run.network)
    .withNetworkAliases(name)
    .withStartupTimeout(START_TIME_LIMIT_MS)
    .withLogConsumer((stream) => {
      stream.on('data', (chunk: Buffer | string) => {
        run.logs.set(name, (run.logs.get(name) ?? '') + chunk.toString());
      });
    });
}

async function startPostgres(
  run: Run,
  { settings = {}, directories = {}, env = {} }: PostgresServer,
): Promise<RunningPart> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const container = await prepared(run, 'postgres', new GenericContainer(POSTGRES_IMAGE))
    .withCommand(['postgres', ...options])
    .withBindMounts(Object.entries(directories).map(([target, source]) => ({ source, target })))
    .withEnvironment({
      POSTGRES_USER: 'tollgate',
      POSTGRES_PASSWORD: run.secrets.postgres_password,
      POSTGRES_DB: 'tollgate',
      ...env,
    })
    .withWaitStrategy(Wait.forSuccessfulCommand(POSTGRES_ANSWERS))
    .start();
  return { container, answers: () => succeeds(container, POSTGRES_ANSWERS) };
}

async function startRedis(run: Run): Promise<RunningPart> {
  const password = run.secrets.redis_password;
  const settings = [`requirepass ${password}`, 'dir /data', ...REDIS_DATA_SETTINGS, ''];
  const container = await prepared(run, 'redis', new GenericContainer(REDIS_IMAGE))
    .withEnvironment({ REDIS_PASSWORD: password })
    .withCopyContentToContainer([
      { content: settings.join('\n'), target: '/etc/tollgate-redis.conf', mode: 0o444 },
    ])
    .withCommand(['redis-server', '/etc/tollgate-redis.conf'])
    .withWaitStrategy(Wait.forSuccessfulCommand(REDIS_ANSWERS))
    .start();
  return { container, answers: () => succeeds(container, REDIS_ANSWERS) };
}

async function startUpstream(run: Run): Promise<RunningPart> {
  const container = await prepared(run, 'upstream', new HardenedContainer(builtImage('upstream')))
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
  const check = "fetch('http://127.0.0.1:4003/health').catch(() => process.exit(1))";
  return { container, answers: async () => (await container.exec(['node', '-e', check])).exitCode === 0 };
}

/** Starts a service and waits for the image's own health check. */
async function startService(
  run: Run,
  name: ServiceName,
): Promise<RunningPart & { publicUrl: string; privateUrl: string }> {
  const ports = SERVICE_PORTS[name];
  const published = { public: await freePort(), private: await freePort() };
  const container = await prepared(run, name, new HardenedContainer(builtImage(name)))
    .withEnvironment(containerSettings(name, run.secrets))
    .withTmpFs(name === 'account' ? { '/mail': 'rw,uid=1000,gid=1000,mode=0700' } : {})
    .withExposedPorts(
      { container: ports.public, host: published.public },
      { container: ports.private, host: published.private },
    )
    .withWaitStrategy(Wait.forHealthCheck())
    .start();
  const host = await reachableHost(container, published.private);
  const url = (port: number) => `http://${host}:${String(port)}`;
  const privateUrl = url(published.private);
  return {
    container,
    publicUrl: url(published.public),
    privateUrl,
    answers: async () => (await fetch(`${privateUrl}/health/ready`)).ok,
  };
}

/** A browser gives only `localhost` what it gives to https (clipboard, passkeys), so it is preferred to an address. */
async function reachableHost(container: StartedTestContainer, port: number): Promise<string> {
  const isLocal = await fetch(`http://localhost:${String(port)}/health/live`).then(
    ({ ok }) => ok,
    () => false,
  );
  return isLocal ? 'localhost' : container.getHost();
}

/** Runs a program of the account image to its end and returns what it printed. */
async function runAccountProgram(run: Run, program: 'migrate' | 'seed'): Promise<string> {
  const { manager, member, peppers, sealing_keys } = run.secrets;
  const container = await prepared(run, program, new HardenedContainer(builtImage('account')))
    .withEnvironment({
      DATABASE_URL: databaseUrl(run.secrets),
      CLIENT_SECRET_PEPPERS: peppers,
      TOKEN_SEALING_KEYS: sealing_keys,
      SEED_INPUT: JSON.stringify({ manager, member }),
    })
    .withCommand(['node', `/app/${program}.mjs`])
    .withWaitStrategy(Wait.forOneShotStartup())
    .start();
  const { stdout } = await promisify(execFile)('docker', ['logs', container.getId()]);
  await container.stop();
  return stdout;
}

/** The image has no other program than Node.js. */
async function readMails({ container }: RunningPart): Promise<string[]> {
  const script = `const { globSync, readFileSync } = require('node:fs');
    console.log(JSON.stringify(globSync('/mail/*.eml').map((file) => readFileSync(file, 'utf8'))))`;
  const { exitCode, stdout, output } = await container.exec(['node', '-e', script]);
  if (exitCode !== 0) throw new Error(`the mails can not be read: ${output}`);
  return JSON.parse(stdout) as string[];
}

async function forgetTokens({ container }: RunningPart): Promise<void> {
  const script = `REDISCLI_AUTH="$REDIS_PASSWORD" redis-cli EVAL "${FORGET_TOKENS}" 0`;
  const { exitCode, output } = await container.exec(['sh', '-c', script]);
  if (exitCode !== 0) throw new Error(`Redis keeps its keys: ${output}`);
}

/** Runs statements one by one in a database beside that of the services. */
async function runBeside({ container }: RunningPart, statements: readonly string[]): Promise<void> {
  const options = ['--username=tollgate', '--dbname=postgres', '--set=ON_ERROR_STOP=1', '--quiet'];
  const commands = statements.map((statement) => `--command=${statement}`);
  const { exitCode, output } = await container.exec(['psql', ...options, ...commands]);
  if (exitCode !== 0) throw new Error(`Postgres refuses a copy of the database: ${output}`);
}
