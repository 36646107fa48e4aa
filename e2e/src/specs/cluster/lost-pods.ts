import { describe, expect, test } from '@jest/globals';
import { eventually, getUsage, obtainToken, postGraphql } from '../../caller.ts';
import { unanswered } from '../../load/calls.ts';
import type { ClusterStack } from '../../stack/cluster.ts';
import { scaleToTwo, SERVICES } from './replicas.ts';
import { report } from './report.ts';
import { underLoad } from './under-load.ts';

const TIME_LIMIT_MS = 300_000;
const LOAD = { callers: 10, pauseMs: 100, sockets: 20 };
const RECOVERY_MS = 120_000;

/** Pods go away one after the other, asked to end or lost at once. */
export function lostPods(stack: () => ClusterStack): void {
  const onePod = async (part: string) => {
    const selector = `--selector=app.kubernetes.io/component=${part}`;
    const [first = ''] = (await stack().kubectl('get', 'pods', selector, '--output=name')).split('\n');
    return first;
  };
  const allReady = async () => {
    const { kubectl } = stack();
    await kubectl('rollout', 'status', 'deployment', '--timeout=120s');
    await kubectl('rollout', 'status', 'statefulset', '--timeout=120s');
  };

  describe('a pod', () => {
    test(
      'of any service that is deleted costs no call',
      async () => {
        await scaleToTwo(stack());
        const seen = await underLoad(stack(), LOAD, async () => {
          for (const service of SERVICES) {
            await stack().kubectl('delete', await onePod(service));
            await allReady();
          }
        });
        report('deleted pods', seen);
        expect(unanswered(seen.calls)).toEqual({});
        expect(seen.sockets.ended).toEqual([]);
      },
      TIME_LIMIT_MS,
    );

    test.each([...SERVICES, 'redis', 'postgres'])(
      'of %s that is killed loses no usage of an answered call',
      async (part) => {
        const { demo, kubectl } = stack();
        await scaleToTwo(stack());
        const token = await obtainToken(demo, demo.application);
        // A gateway settles its subscriptions every five seconds, and they have a result a second.
        const load = part === 'gateway' ? { ...LOAD, unsettled: 6 } : LOAD;
        const seen = await underLoad(stack(), load, async () => {
          await kubectl('delete', await onePod(part), '--grace-period=0', '--force');
          await allReady();
          await eventually(
            async () => (await postGraphql(demo, token, '{ continents { name } }')).status,
            (status) => status === 200,
            RECOVERY_MS,
          );
          // Calls pass from caches; account may still wait for Postgres.
          await eventually(
            async () => (await getUsage(demo.account_url, token)).status,
            (status) => status === 200,
            RECOVERY_MS,
          );
        });
        report(`killed pod of ${part}`, seen);
        expect(seen.sockets.ended).toEqual([]);
      },
      TIME_LIMIT_MS,
    );
  });
}
