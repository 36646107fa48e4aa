import { once } from 'node:events';
import { connect } from 'node:net';
import { copyStatements, restoreStatements } from '@tollgate/stack/database-copy';
import { waitFor } from '@tollgate/stack/wait-for';
import { FORGET_TOKENS } from '../stack.ts';
import type { Part } from '../stack.ts';
import type { Kubectl } from './commands.ts';
import { containerProcesses, signalAll } from './container-processes.ts';
import { addressOf, urlOf } from './listeners.ts';
import type { ListenerName, Listeners } from './listeners.ts';
import { RELEASE } from './release.ts';

const START_TIME_LIMIT_MS = 120_000;

/** The Services that lead to a part. Each knows a new pod at its own moment. */
const SERVICES_OF: Record<Part, [service: string, port: number][]> = {
  gateway: [
    ['gateway', 4000],
    ['gateway-private', 4100],
  ],
  auth: [
    ['auth', 4001],
    ['auth-private', 4101],
  ],
  account: [
    ['account', 4002],
    ['account-private', 4102],
  ],
  upstream: [['upstream', 4003]],
  redis: [['redis', 6379]],
  postgres: [['postgres', 5432]],
};

const PRIVATE_LISTENERS: Partial<Record<Part, ListenerName>> = {
  gateway: 'gatewayPrivate',
  auth: 'authPrivate',
  account: 'accountPrivate',
};

const workloadOf = (part: Part) =>
  `${part === 'postgres' || part === 'redis' ? 'statefulset' : 'deployment'}/${RELEASE}-${part}`;
const selectorOf = (part: Part) =>
  `app.kubernetes.io/instance=${RELEASE},app.kubernetes.io/component=${part}`;

/** What a suite does to the parts of a release that runs. */
export function control(kubectl: Kubectl, listeners: Listeners) {
  const processes = (part: Part) => containerProcesses(kubectl, selectorOf(part));
  const inRedis = (script: string) =>
    kubectl('exec', `statefulset/${RELEASE}-redis`, '--', '/bin/sh', '-ec', script);
  const runBeside = async (statements: readonly string[]) => {
    const options = ['--username=tollgate', '--dbname=postgres', '--set=ON_ERROR_STOP=1', '--quiet'];
    const commands = statements.map((statement) => `--command=${statement}`);
    await kubectl('exec', `statefulset/${RELEASE}-postgres`, '--', 'psql', ...options, ...commands);
  };
  return {
    kill: (part: Part) => kill(kubectl, part),
    start: async (part: Part) => {
      await kubectl('scale', workloadOf(part), '--replicas=1');
      await kubectl('rollout', 'status', workloadOf(part), '--timeout=120s');
      const services = await Promise.all(
        SERVICES_OF[part].map(async ([service, port]) => ({
          host: await addressOf(kubectl, `${RELEASE}-${service}`),
          port,
        })),
      );
      await waitFor(() => answers(services, listeners, part), {
        timeoutMs: START_TIME_LIMIT_MS,
        intervalMs: 50,
        what: `${part} to answer`,
      });
    },
    pause: async (part: Part) => {
      signalAll(await processes(part), 'SIGSTOP');
    },
    resume: async (part: Part) => {
      signalAll(await processes(part), 'SIGCONT');
    },
    mails: async () => {
      const script = `console.log(JSON.stringify(fs.globSync('/mail/*.eml').map((file) => fs.readFileSync(file, 'utf8'))))`;
      const container = [`deployment/${RELEASE}-account`, '--container=account'];
      return JSON.parse(await kubectl('exec', ...container, '--', 'node', '-e', script)) as string[];
    },
    forgetTokens: async () => {
      const password = 'REDISCLI_AUTH="$(cat /run/secrets/tollgate/password)"';
      await inRedis(`${password} redis-cli EVAL "${FORGET_TOKENS}" 0`);
    },
    backUpPostgres: () => runBeside(copyStatements('tollgate')),
    restorePostgres: () => runBeside(restoreStatements('tollgate')),
  };
}

/**
 * Stopped first, the processes do nothing between the kill and the end of the pod, which isn't replaced. The pod is
 * removed by force only after they died, so that the ends of their connections still get through its network.
 */
async function kill(kubectl: Kubectl, part: Part): Promise<void> {
  const ofPart = ['--selector', selectorOf(part)];
  const deletionTimes = '--output=jsonpath={range .items[*]}[{.metadata.deletionTimestamp}]{end}';
  const processes = await containerProcesses(kubectl, selectorOf(part));
  signalAll(processes, 'SIGSTOP');
  await kubectl('scale', workloadOf(part), '--replicas=0');
  await waitFor(async () => !(await kubectl('get', 'pods', ...ofPart, deletionTimes)).includes('[]'), {
    timeoutMs: START_TIME_LIMIT_MS,
    what: `the pods of ${part} to be deleted`,
  });
  signalAll(processes, 'SIGKILL');
  await kubectl('delete', 'pods', ...ofPart, '--force', '--grace-period=0', '--wait=false');
  await kubectl('wait', '--for=delete', '--timeout=120s', 'pods', ...ofPart);
}

/** Through its Services, which know a new pod a little later than it is ready. */
async function answers(
  services: readonly { host: string; port: number }[],
  listeners: Listeners,
  part: Part,
): Promise<boolean> {
  for (const service of services) {
    const socket = connect(service);
    try {
      await once(socket, 'connect');
    } finally {
      socket.destroy();
    }
  }
  const at = PRIVATE_LISTENERS[part];
  return at === undefined || (await fetch(`${urlOf(listeners[at])}/health/ready`)).ok;
}
