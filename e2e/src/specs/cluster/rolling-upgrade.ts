import { describe, expect, test } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import type { ClusterStack } from '../../stack/cluster.ts';
import { onAllServices, SERVICES } from './replicas.ts';
import { report } from './report.ts';
import { underLoad } from './under-load.ts';

const TIME_LIMIT_MS = 300_000;
const SOCKETS = 200;

/** All pods of the services are replaced, as by a new version, while customers call. */
export function rollingUpgrade(stack: () => ClusterStack): void {
  describe('a rolling upgrade under load', () => {
    test(
      'refuses no call, loses and doubles nothing, and tells every socket to reconnect',
      async () => {
        const { kubectl, upgrade } = stack();
        const pods = async () => (await kubectl('get', 'pods', '--output=name')).split('\n');
        await upgrade(onAllServices({}));
        const before = await pods();
        const seen = await underLoad(stack(), { callers: 10, pauseMs: 200, sockets: SOCKETS }, async () => {
          const podAnnotations = { release: randomUUID() };
          await upgrade(onAllServices({ podAnnotations }));
        });
        report('rolling upgrade', seen);
        const replaced = (await pods()).filter((pod) => !before.includes(pod));
        for (const service of SERVICES) {
          expect(replaced.filter((pod) => pod.includes(`-${service}-`))).toHaveLength(2);
        }
        expect(seen.calls).toMatchObject({ refused: {}, lost: {} });
        expect(seen.calls.answered).toBeGreaterThan(0);
        // 1012: this gateway ends; 1013: what a new one needs isn't there yet. To clients, neither is final.
        const { 1012: ending = 0, 1013: later = 0, ...others } = seen.sockets.closes;
        expect(others).toEqual({});
        expect(ending).toBeGreaterThan(0);
        expect(ending + later).toBeGreaterThanOrEqual(SOCKETS);
        expect(seen.sockets.ended).toEqual([]);
      },
      TIME_LIMIT_MS,
    );
  });
}
