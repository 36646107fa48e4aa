import { describe, expect, test } from '@jest/globals';
import type { ClusterStack } from '../../stack/cluster.ts';
import { connectFrom, connectFromHere } from '../../stack/cluster/foreign-pod.ts';
import type { Target } from '../../stack/cluster/foreign-pod.ts';
import { createNamespace } from '../../stack/cluster/release.ts';

const TIME_LIMIT_MS = 120_000;

/** Every port of the chart's pods, with the Service that leads there. */
const PORTS = [
  ['gateway', 'gateway', 4000],
  ['gateway', 'gateway-private', 4100],
  ['auth', 'auth', 4001],
  ['auth', 'auth-private', 4101],
  ['account', 'account', 4002],
  ['account', 'account-private', 4102],
  ['upstream', 'upstream', 4003],
  ['postgres', 'postgres', 5432],
  ['redis', 'redis', 6379],
] as const;

/** What a pod of someone else's reaches: the gateway's public port. */
const PUBLIC = ['gateway:4000 at a pod', 'gateway:4000 at the Service'];

/** The NetworkPolicies, as pods meet them. */
export function foreignPods(stack: () => ClusterStack): void {
  /** Each port twice: at the Service's address, and at that of a pod behind it. */
  async function targets(): Promise<Target[]> {
    const { kubectl } = stack();
    const address = (kind: string, name: string, path: string) =>
      kubectl('get', kind, name, `--output=jsonpath=${path}`);
    const all = PORTS.map(async ([component, service, port]) => {
      const selector = `--selector=app.kubernetes.io/component=${component}`;
      const name = `${component}:${String(port)}`;
      return [
        { name: `${name} at a pod`, host: await address('pods', selector, '{.items[0].status.podIP}'), port },
        {
          name: `${name} at the Service`,
          host: await address('service', `tollgate-${service}`, '{.spec.clusterIP}'),
          port,
        },
      ];
    });
    return (await Promise.all(all)).flat();
  }

  describe('a pod that is not of Tollgate', () => {
    test(
      'reaches the public port of the gateway and no other, from any namespace',
      async () => {
        const { kubectl, namespace } = stack();
        const all = await targets();
        // From the node, which no policy keeps out: all of these answer.
        expect(await connectFromHere(all)).toEqual(all.map(({ name }) => name).toSorted());

        expect(await connectFrom(kubectl, all)).toEqual(PUBLIC);
        const elsewhere = `${namespace}-foreign`;
        const there = await createNamespace(elsewhere);
        try {
          expect(await connectFrom(there, all)).toEqual(PUBLIC);
        } finally {
          await there('delete', 'namespace', elsewhere, '--wait=false');
        }
      },
      TIME_LIMIT_MS,
    );
  });
}
