import { describe, expect, test } from '@jest/globals';
import { startCalls, unanswered } from '../../load/calls.ts';
import { newCustomer } from '../../load/customer.ts';
import type { ClusterStack } from '../../stack/cluster.ts';
import { report } from './report.ts';

const TIME_LIMIT_MS = 120_000;

const WRONG = [
  [{ gateway: { replicas: 'three' } }, "at '/gateway/replicas': got string, want integer"],
  [{ account: { heapPercent: 95 } }, "at '/account/heapPercent': maximum: got 95, want 90"],
  [{ gatway: { replicas: 3 } }, "additional properties 'gatway' not allowed"],
  [{ ingress: { enabled: true } }, "at '/ingress/host': minLength"],
  [
    { gateway: { replicas: 3, autoscaling: { enabled: true, maxReplicas: 2 } } },
    'gateway.autoscaling.maxReplicas (2) is less than gateway.replicas (3)',
  ],
  [{ account: { maxSurge: 0 } }, "at '/account/maxSurge': minimum"],
  [{ auth: { resources: { requests: { memory: '2Gi' } } } }, 'auth.resources.requests.memory (2Gi) is more'],
  [{ postgres: { storage: { size: '3Gi' } } }, "postgres.storage.size (3Gi) can't be changed"],
  [{ monitoring: { serviceMonitor: { enabled: true } } }, 'no matches for kind "ServiceMonitor"'],
  [{ redis: { enabled: false } }, 'Set secrets.redis.existingSecret to a Secret with the key redis_url'],
] as const;

/** What Helm refuses, it refuses before it touches anything. */
export function refusedUpgrade(stack: () => ClusterStack): void {
  describe('an upgrade with a wrong value', () => {
    test(
      'is refused by the name of the value, and the release goes on as it is',
      async () => {
        const { demo, kubectl, upgrade } = stack();
        const objects = async () => {
          const pods =
            '--output=jsonpath={range .items[*]}{.metadata.uid} {.status.containerStatuses[*].restartCount}\n{end}';
          const revisions =
            '--output=custom-columns=:.metadata.name,:.metadata.uid,:.metadata.generation,:.data.release';
          return [
            await kubectl('get', 'pods', pods),
            await kubectl('get', 'deployments,statefulsets,jobs', revisions),
            await kubectl('get', 'secrets', '--selector=owner=helm', revisions),
          ];
        };
        const before = await objects();
        const { token } = await newCustomer(demo, 'undisturbed');
        const calls = startCalls(`${demo.streaming_url}/graphql`, token, { callers: 2, pauseMs: 20 });
        const messages: string[] = [];
        try {
          for (const [values] of WRONG) {
            messages.push(await upgrade(values).then(() => 'not refused', String));
          }
        } finally {
          await calls.stop();
        }
        report('refused upgrade', calls.tally());
        expect(messages).toEqual(WRONG.map(([, message]) => expect.stringContaining(message)));
        expect(await objects()).toEqual(before);
        expect(unanswered(calls.tally())).toEqual({});
        expect(calls.tally().answered).toBeGreaterThan(0);
      },
      TIME_LIMIT_MS,
    );
  });
}
