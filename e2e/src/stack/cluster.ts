import { randomBytes } from 'node:crypto';
import { demoOf } from '@tollgate/sample/demo';
import type { DemoSecrets, SampleIds } from '@tollgate/sample/demo';
import { runCommand } from './cluster/commands.ts';
import type { Kubectl } from './cluster/commands.ts';
import type { ForwardedPort } from './cluster/forwarded-port.ts';
import { forwardListeners, freeListeners, urlsOf } from './cluster/listeners.ts';
import { control } from './cluster/parts.ts';
import { loadImages } from './cluster/load-images.ts';
import { CHART, createNamespace, helm, imageValues, RELEASE } from './cluster/release.ts';
import type { Values } from './cluster/release.ts';
import { readSecret } from './cluster/secrets.ts';
import type { Stack } from './stack.ts';

/** A stack whose release can be changed, and whose objects can be looked at. */
export type ClusterStack = Stack & {
  namespace: string;
  kubectl: Kubectl;
  /**
   * `helm upgrade` with the values of the installation and these, and with another chart if one is given; waits until
   * the pods are ready.
   */
  upgrade: (values: Values, chart?: string) => Promise<string>;
  /** `helm uninstall`; waits until no pod is left. */
  uninstall: () => Promise<void>;
  /** Installs again what was uninstalled; the demo has the same addresses and the new release's credentials. */
  install: () => Promise<void>;
};

/** A node that runs other suites, too, tells its proxies later than one that doesn't. */
const SHUTDOWN = { delaySeconds: 10 };

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
  let forwarded: ForwardedPort | undefined;
  const stop = async () => {
    await forwarded?.close();
    // Their graceful end would only take time.
    await kubectl('delete', 'pods', '--all', '--force', '--grace-period=0', '--wait=false');
    await kubectl('delete', 'namespace', namespace);
  };
  try {
    const listeners = await freeListeners();
    // Not an address of this machine, for which the sign-in page would offer passkeys.
    const publicUrl = 'http://gateway:4000';
    const all = { publicUrl, shutdown: SHUTDOWN, ...(await imageValues()), ...values };
    const urls = urlsOf(listeners);
    // Clients look for the metadata at the issuer, and reach it at this port.
    const issuer = `--set-string=auth.settings.ISSUER_URL=${urls.gateway}`;
    const install = async () => {
      await helm(namespace, ['install', RELEASE, CHART, issuer], all);
      await Promise.all([
        kubectl('rollout', 'status', 'deployment', '--timeout=180s'),
        kubectl('wait', '--for=condition=Complete', '--timeout=180s', 'job', '--all'),
      ]);
      forwarded = await forwardListeners(kubectl, listeners);
      return demoOf(urls, await demoSecrets(kubectl), await seededIds(kubectl));
    };
    const stack: ClusterStack = {
      kind: 'cluster',
      namespace,
      kubectl,
      demo: await install(),
      upgrade: (more, chart = CHART) =>
        helm(namespace, ['upgrade', RELEASE, chart, issuer, '--wait', '--timeout=180s'], { ...all, ...more }),
      uninstall: async () => {
        await forwarded?.close();
        forwarded = undefined;
        await uninstall(namespace, kubectl);
      },
      install: async () => {
        stack.demo = await install();
      },
      ...control(kubectl, listeners),
      stop,
    };
    return stack;
  } catch (error) {
    const pods = await kubectl('get', 'pods').catch(() => '');
    const events = await kubectl('get', 'events', '--field-selector=type=Warning').catch(() => '');
    await stop();
    throw new Error(`The chart doesn't come up.\n${pods}\n${events}`, { cause: error });
  }
}

async function uninstall(namespace: string, kubectl: Kubectl): Promise<void> {
  await runCommand('helm', ['uninstall', RELEASE, '--namespace', namespace, '--wait', '--timeout=180s']);
  const instance = `--selector=app.kubernetes.io/instance=${RELEASE}`;
  await kubectl('wait', '--for=delete', '--timeout=180s', 'pods', instance);
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
