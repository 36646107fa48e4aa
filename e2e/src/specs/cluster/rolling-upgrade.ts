import { describe, expect, test } from '@jest/globals';
import { eventually } from '../../caller.ts';
import { unanswered } from '../../load/calls.ts';
import type { ClusterStack } from '../../stack/cluster.ts';
import { withChartBefore } from '../../stack/cluster/version-before.ts';
import { onAllServices, SERVICES } from './replicas.ts';
import { report } from './report.ts';
import { underLoad } from './under-load.ts';

const TIME_LIMIT_MS = 400_000;
const ENDING_TIME_LIMIT_MS = 60_000;
const SOCKETS = 200;

/** Every pod of the services is replaced by one of another version while customers call; the stores stay. */
export function rollingUpgrade(stack: () => ClusterStack): void {
  const pods = async () => (await stack().kubectl('get', 'pods', '--output=name')).split('\n');
  /** The versions that the services state, by what a private listener answers. */
  const versions = async () => {
    const { gateway_url, auth_url, account_url } = stack().demo.private;
    const pages = await Promise.all(
      [gateway_url, auth_url, account_url].map(async (url) => (await fetch(`${url}/metrics`)).text()),
    );
    return new Set(pages.map((page) => /tollgate_build_info\{.*version="([^"]+)"/.exec(page)?.[1]));
  };

  describe('a rolling upgrade under load', () => {
    test(
      'refuses no call, loses and doubles nothing, and tells every socket to reconnect',
      async () => {
        const { upgrade } = stack();
        const older = await withChartBefore(async (chart, before) => {
          await upgrade({ ...onAllServices({}), ...before.values }, chart);
          return before.version;
        });
        await eventually(versions, (stated) => [...stated].join() === older, ENDING_TIME_LIMIT_MS);
        const before = await pods();
        const seen = await underLoad(stack(), { callers: 10, pauseMs: 200, sockets: SOCKETS }, async () => {
          await upgrade(onAllServices({}));
        });
        report('rolling upgrade', seen);
        // A pod that ends still answers on connections that it has.
        await eventually(versions, (stated) => !stated.has(older), ENDING_TIME_LIMIT_MS);
        const after = await pods();
        const replaced = after.filter((pod) => !before.includes(pod));
        for (const service of SERVICES) {
          expect(replaced.filter((pod) => pod.includes(`-${service}-`))).toHaveLength(2);
        }
        expect(unanswered(seen.calls)).toEqual({});
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
