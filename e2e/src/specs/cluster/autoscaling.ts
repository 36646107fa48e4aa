import { describe, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { eventually, readUsage } from '../../caller.ts';
import { startCalls, unanswered } from '../../load/calls.ts';
import { newCustomer } from '../../load/customer.ts';
import type { ClusterStack } from '../../stack/cluster.ts';
import { report } from './report.ts';

const TIME_LIMIT_MS = 400_000;
/** Usage is measured, and the number of pods decided, about every 15 seconds. A look is a process. */
const DECISION = { timeoutMs: 150_000, intervalMs: 1_000 };

/** Fewer pods soon after the load ends; production waits longer. */
const AUTOSCALING = {
  enabled: true,
  maxReplicas: 3,
  behavior: {
    scaleDown: { stabilizationWindowSeconds: 0, policies: [{ type: 'Pods', value: 1, periodSeconds: 5 }] },
  },
};

export function autoscaling(stack: () => ClusterStack): void {
  const pods = async () => {
    const ready = '--output=jsonpath={.status.readyReplicas}';
    return Number(await stack().kubectl('get', 'deployment', 'tollgate-gateway', ready));
  };

  describe('the autoscaler', () => {
    test(
      'adds gateways under load and takes them away after it, and no call fails',
      async () => {
        const { demo, upgrade } = stack();
        const { token } = await newCustomer(demo, 'autoscaled');
        const url = `${demo.streaming_url}/graphql`;
        // 60 % of it is less than the busy callers take, and more than two pods without them.
        const resources = {
          requests: { cpu: '150m', memory: '192Mi' },
          limits: { cpu: '1', memory: '384Mi' },
        };
        await upgrade({ gateway: { replicas: 1, autoscaling: AUTOSCALING, resources } });
        const steady = startCalls(url, token, { callers: 1, pauseMs: 500 });
        const busy = startCalls(url, token, { callers: 8, pauseMs: 5 });
        try {
          await waitFor(async () => (await pods()) > 1, { ...DECISION, what: 'a second gateway' });
          await busy.stop();
          await waitFor(async () => (await pods()) === 1, { ...DECISION, what: 'one gateway to be left' });
        } finally {
          await Promise.all([busy.stop(), steady.stop()]);
        }
        const all = [busy.tally(), steady.tally()];
        report('autoscaling', { busy: all[0], steady: all[1] });
        for (const tally of all) expect(unanswered(tally)).toEqual({});
        const answered = all.reduce((sum, tally) => sum + tally.answered, 0);
        await eventually(
          async () => (await readUsage(demo, token)).billing_period.usage.requests_usage,
          (requests) => requests === answered,
          30_000,
        );
      },
      TIME_LIMIT_MS,
    );
  });
}
