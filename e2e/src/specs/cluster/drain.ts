import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../caller.ts';
import { unanswered } from '../../load/calls.ts';
import type { ClusterStack } from '../../stack/cluster.ts';
import { scaleToTwo, SERVICES } from './replicas.ts';
import { report } from './report.ts';
import { underLoad } from './under-load.ts';

const TIME_LIMIT_MS = 240_000;
const EVICTION_TIME_LIMIT_MS = 60_000;

/** Ready and waiting pods of a service. */
type Pods = { ready: number; pending: number };

/**
 * The node is drained while it is the only one: what is evicted has nowhere to go until the node is back, as where the
 * other nodes are full.
 */
export function drain(stack: () => ClusterStack): void {
  async function podsOf(service: string): Promise<Pods> {
    const selector = `--selector=app.kubernetes.io/component=${service}`;
    const states = await stack().kubectl(
      'get',
      'pods',
      selector,
      '--no-headers',
      '--output=custom-columns=:.status.phase,:.metadata.deletionTimestamp',
    );
    const lines = states.split('\n').map((line) => line.trim().split(/\s+/));
    return {
      ready: lines.filter(([phase, deleted]) => phase === 'Running' && deleted === '<none>').length,
      pending: lines.filter(([phase]) => phase === 'Pending').length,
    };
  }

  describe('a node that is drained', () => {
    test(
      'gives up a pod of each service only when another one is ready, and no call fails',
      async () => {
        const { kubectl, namespace } = stack();
        await scaleToTwo(stack());
        // The node may have pods of others, which stay.
        const services = `--selector=app.kubernetes.io/component in (${SERVICES.join()})`;
        await kubectl('label', 'pods', services, `drained=${namespace}`);
        const node = (await kubectl('get', 'nodes', '--output=name')).trim();
        const seen = await underLoad(stack(), { callers: 10, pauseMs: 200, sockets: 20 }, async () => {
          const drained = kubectl(
            'drain',
            node,
            `--pod-selector=drained=${namespace}`,
            '--delete-emptydir-data',
            '--timeout=180s',
          );
          // Should it fail before it is awaited
          drained.catch(() => undefined);
          try {
            for (const service of SERVICES) {
              const pods = await eventually(
                () => podsOf(service),
                ({ pending }) => pending > 0,
                EVICTION_TIME_LIMIT_MS,
              );
              expect(pods).toEqual({ ready: 1, pending: 1 });
            }
          } finally {
            await kubectl('uncordon', node);
          }
          await drained;
          await kubectl('rollout', 'status', 'deployment', '--timeout=120s');
        });
        report('drained node', seen);
        expect(unanswered(seen.calls)).toEqual({});
        expect(seen.sockets.ended).toEqual([]);
      },
      TIME_LIMIT_MS,
    );
  });
}
