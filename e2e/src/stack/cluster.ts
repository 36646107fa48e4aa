import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { demoOf } from '@tollgate/sample/demo';
import type { DemoSecrets, SampleIds } from '@tollgate/sample/demo';
import { copyStatements, restoreStatements } from '@tollgate/stack/database-copy';
import { freePort } from '@tollgate/stack/ports';
import { waitFor } from '@tollgate/stack/wait-for';
import type { Kubectl } from './cluster/commands.ts';
import { containerProcesses, signalAll } from './cluster/container-processes.ts';
import { forwardPort } from './cluster/forwarded-port.ts';
import type { ForwardedPort } from './cluster/forwarded-port.ts';
import { CHART, createNamespace, helm, imageValues, loadImages, RELEASE } from './cluster/release.ts';
import type { Values } from './cluster/release.ts';
import { readSecret } from './cluster/secrets.ts';
import { FORGET_TOKENS } from './stack.ts';
import type { Part, Stack } from './stack.ts';

const START_TIME_LIMIT_MS = 120_000;

/** A stack whose release can be changed, and whose objects can be looked at. */
export type ClusterStack = Stack & {
  namespace: string;
  kubectl: Kubectl;
  /** `helm upgrade` with the values of the installation and these; waits until the pods are ready. */
  upgrade: (values: Values) => Promise<string>;
};

/** A listener of the chart: its Service, and the port of this machine that leads there. */
type Listener = { service: string; servicePort: number; port: number };

const LISTENERS = {
  gateway: ['gateway', 4000],
  gatewayPrivate: ['gateway-private', 4100],
  auth: ['auth', 4001],
  authPrivate: ['auth-private', 4101],
  account: ['account', 4002],
  accountPrivate: ['account-private', 4102],
} as const;

type ListenerName = keyof typeof LISTENERS;

/** The private listener of a service, or the only one of another part. */
const ANSWERING: Record<Part, ListenerName | [service: string, port: number]> = {
  gateway: 'gatewayPrivate',
  auth: 'authPrivate',
  account: 'accountPrivate',
  upstream: ['upstream', 4003],
  redis: ['redis', 6379],
  postgres: ['postgres', 5432],
};

const workloadOf = (part: Part) =>
  `${part === 'postgres' || part === 'redis' ? 'statefulset' : 'deployment'}/${RELEASE}-${part}`;
const selectorOf = (part: Part) =>
  `app.kubernetes.io/instance=${RELEASE},app.kubernetes.io/component=${part}`;

/**
 * Builds the images, loads them into the cluster, and installs the chart with values/demo.yaml in a namespace of its
 * own. The cluster is that of KUBECONFIG, whose one node is this machine.
 *
 * @throws {Error} with what the pods say; nothing is left behind.
 */
export async function startClusterStack(values: Values = {}): Promise<ClusterStack> {
  await loadImages();
  const namespace = `tollgate-e2e-${randomBytes(4).toString('hex')}`;
  const kubectl = await createNamespace(namespace);
  const forwarded: ForwardedPort[] = [];
  const stop = async () => {
    await Promise.all(forwarded.map((each) => each.close()));
    // Their graceful end would only take time.
    await kubectl('delete', 'pods', '--all', '--force', '--grace-period=0', '--wait=false');
    await kubectl('delete', 'namespace', namespace);
  };
  try {
    const listeners = await freeListeners();
    // Not an address of this machine, for which the sign-in page would offer passkeys.
    const publicUrl = 'http://gateway:4000';
    const all = { publicUrl, ...(await imageValues()), ...values };
    await helm(namespace, ['install', RELEASE, CHART], all);
    await Promise.all([
      kubectl('rollout', 'status', 'deployment', '--timeout=180s'),
      kubectl('wait', '--for=condition=Complete', '--timeout=180s', 'job', '--all'),
    ]);
    for (const { service, servicePort, port } of Object.values(listeners)) {
      forwarded.push(await forwardPort(port, { host: await addressOf(kubectl, service), port: servicePort }));
    }
    const urls = Object.fromEntries(
      Object.entries(listeners).map(([name, listener]) => [name, urlOf(listener)]),
    ) as Record<ListenerName, string>;
    const demo = demoOf(urls, await demoSecrets(kubectl), await seededIds(kubectl));
    return {
      kind: 'cluster',
      namespace,
      kubectl,
      demo,
      upgrade: (more) =>
        helm(namespace, ['upgrade', RELEASE, CHART, '--wait', '--timeout=180s'], { ...all, ...more }),
      ...control(kubectl, listeners),
      stop,
    };
  } catch (error) {
    const pods = await kubectl('get', 'pods').catch(() => '');
    const events = await kubectl('get', 'events', '--field-selector=type=Warning').catch(() => '');
    await stop();
    throw new Error(`The chart doesn't come up.\n${pods}\n${events}`, { cause: error });
  }
}

async function freeListeners(): Promise<Record<ListenerName, Listener>> {
  const taken = new Set<number>();
  const entries = [];
  for (const [name, [suffix, servicePort]] of Object.entries(LISTENERS)) {
    let port = await freePort();
    while (taken.has(port)) port = await freePort();
    taken.add(port);
    entries.push([name, { service: `${RELEASE}-${suffix}`, servicePort, port }] as const);
  }
  return Object.fromEntries(entries) as Record<ListenerName, Listener>;
}

const urlOf = ({ port }: Listener) => `http://localhost:${String(port)}`;

function addressOf(kubectl: Kubectl, service: string): Promise<string> {
  return kubectl('get', 'service', service, '--output=jsonpath={.spec.clusterIP}');
}

async function demoSecrets(kubectl: Kubectl): Promise<DemoSecrets> {
  const { seed_input = '' } = await readSecret(kubectl, 'seed');
  const people = JSON.parse(seed_input) as Pick<DemoSecrets, 'manager' | 'member'>;
  const { operator_secret = '', usage_reporter_secret = '' } = await readSecret(
    kubectl,
    'service-credentials',
  );
  return { ...people, credentials: { operator: operator_secret, usage_reporter: usage_reporter_secret } };
}

async function seededIds(kubectl: Kubectl): Promise<SampleIds> {
  const component = 'app.kubernetes.io/component=seed';
  return JSON.parse(
    await kubectl('logs', '--selector', component, '--container=seed', '--tail=1'),
  ) as SampleIds;
}

/** What a suite does to the parts of a release that runs. */
function control(kubectl: Kubectl, listeners: Record<ListenerName, Listener>) {
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
      await waitFor(() => answers(kubectl, listeners, part), {
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
  const limits = { timeoutMs: START_TIME_LIMIT_MS, intervalMs: 100 };
  const processes = await containerProcesses(kubectl, selectorOf(part));
  signalAll(processes, 'SIGSTOP');
  await kubectl('scale', workloadOf(part), '--replicas=0');
  await waitFor(async () => !(await kubectl('get', 'pods', ...ofPart, deletionTimes)).includes('[]'), {
    ...limits,
    what: `the pods of ${part} to be deleted`,
  });
  signalAll(processes, 'SIGKILL');
  await kubectl('delete', 'pods', ...ofPart, '--force', '--grace-period=0', '--wait=false');
  await waitFor(async () => (await kubectl('get', 'pods', ...ofPart, '--output=name')) === '', {
    ...limits,
    what: `the pods of ${part} to be gone`,
  });
}

/** Through its Service, which knows a new pod a little later than it is ready. */
async function answers(
  kubectl: Kubectl,
  listeners: Record<ListenerName, Listener>,
  part: Part,
): Promise<boolean> {
  const at = ANSWERING[part];
  if (typeof at === 'string') return (await fetch(`${urlOf(listeners[at])}/health/ready`)).ok;
  const [service, port] = at;
  const socket = connect({ host: await addressOf(kubectl, `${RELEASE}-${service}`), port });
  try {
    await once(socket, 'connect');
    return true;
  } finally {
    socket.destroy();
  }
}
