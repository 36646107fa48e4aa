import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { installIngressController } from '@tollgate/testbed/ingress-controller';
import { REDIS_IMAGE } from '../images.ts';
import { kubectlIn, runCommand } from './commands.ts';
import type { Kubectl } from './commands.ts';
import { loadIntoCluster } from './load-images.ts';

/** The namespace that Contour's manifests make, and its pods there that take callers' requests. */
const NAMESPACE = 'projectcontour';
const PROXY_LABELS = { app: 'envoy' };

/** The image of both Contour and Envoy. */
const IMAGE = 'tollgate-ingress-controller:e2e';

export const INGRESS_CLASS = 'contour';

/** As a NetworkPolicyPeer: the pods of the controller that connect to services. */
export const PROXY_PEER = {
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': NAMESPACE } },
  podSelector: { matchLabels: PROXY_LABELS },
};

export type IngressControllerPods = {
  /** In the controller's namespace. */
  kubectl: Kubectl;
  /** The port for HTTP of a pod that takes callers' requests. */
  proxy: { host: string; port: number };
  remove: () => Promise<void>;
};

/**
 * Contour as its own manifests install it, in the whole cluster.
 *
 * @throws {Error} if the cluster has it already: someone else uses it.
 */
export async function startIngressController(): Promise<IngressControllerPods> {
  const directory = await installIngressController();
  const namespaces = await runCommand('kubectl', ['get', 'namespaces', '--output=name']);
  if (namespaces.split('\n').includes(`namespace/${NAMESPACE}`)) {
    throw new Error(`The cluster has a namespace ${NAMESPACE}.`);
  }
  await loadImage(directory);
  const kubectl = kubectlIn(NAMESPACE);
  // The definitions of its resources stay: the API server can take minutes to remove one.
  const remove = async () => {
    await kubectl('delete', '--ignore-not-found', `namespace/${NAMESPACE}`);
    await kubectl('delete', '--ignore-not-found', 'clusterrolebinding/contour', 'clusterrole/contour');
  };
  try {
    // The definitions of its resources are too long for the annotation of the client's side.
    const apply = ['apply', '--server-side', '--filename=-'];
    await runCommand('kubectl', apply, await manifestsOf(directory));
    await kubectl('rollout', 'status', 'deployment/contour', '--timeout=120s');
    await kubectl('rollout', 'status', 'daemonset/envoy', '--timeout=120s');
    const selector = Object.entries(PROXY_LABELS).map((label) => label.join('='));
    const host = await kubectl(
      'get',
      'pods',
      `--selector=${selector.join(',')}`,
      '--output=jsonpath={.items[0].status.podIP}',
    );
    return { kubectl, proxy: { host, port: 8080 }, remove };
  } catch (error) {
    const pods = await kubectl('get', 'pods').catch(() => '');
    const events = await kubectl('get', 'events', '--field-selector=type=Warning').catch(() => '');
    await remove();
    throw new Error(`Contour doesn't come up.\n${pods}\n${events}`, { cause: error });
  }
}

/** Contour is complete. Envoy needs the C library, which is that of an image at hand. */
async function loadImage(directory: string): Promise<void> {
  const lines = [
    `FROM ${REDIS_IMAGE} AS libraries`,
    'COPY envoy /bin/',
    `RUN mkdir /files && cp --parents $(ldd /bin/envoy | grep -o '/[^ ]*') /files`,
    'FROM scratch',
    'COPY --from=libraries /files /',
    'COPY contour envoy /bin/',
    'ENV PATH=/bin',
  ];
  const args = ['build', '--quiet', '--force-rm', '--network=none', '--tag', IMAGE, '--file=-', directory];
  await runCommand('docker', args, lines.join('\n'));
  await loadIntoCluster([IMAGE]);
}

/**
 * With our image and one replica, without ports of the node, which is this machine, and without minutes for the end of
 * connections.
 */
async function manifestsOf(directory: string): Promise<string> {
  return (await readFile(join(directory, 'manifests.yaml'), 'utf8'))
    .replaceAll(/image: \S+\/(?:contour|envoy):\S+/g, `image: ${IMAGE}`)
    .replaceAll(/^ +hostPort: \d+\n/gm, '')
    .replaceAll(/^( +replicas:) 2$/gm, '$1 1')
    .replaceAll(/^( +terminationGracePeriodSeconds:) 300$/gm, '$1 0');
}
