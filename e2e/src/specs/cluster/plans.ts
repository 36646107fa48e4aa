import { describe, expect, test } from '@jest/globals';
import type { ClusterStack } from '../../stack/cluster.ts';
import { RELEASE } from '../../stack/cluster/release.ts';

const TIME_LIMIT_MS = 180_000;

const PLANS = `
products:
  cluster-data: { name: Cluster data }
plans:
  cluster-plan: { name: Cluster plan, product: cluster-data, description: { points_limit: 1000 } }
`;

const WRONG_PLANS = PLANS.replace('points_limit', 'points_limt');

/** docs/plans-as-code.md, "With Helm": the Job that applies `plans.file` after an upgrade. */
export function plans(stack: () => ClusterStack): void {
  const tollgate = async (...args: string[]) => {
    const container = [`deployment/${RELEASE}-account`, '--container=account'];
    return JSON.parse(
      await stack().kubectl('exec', ...container, '--', 'tollgate', ...args, '--json'),
    ) as Record<string, Record<string, unknown>[]>;
  };
  const applied = async () => {
    const { plans: found = [] } = await tollgate('plans', 'list');
    return found.filter(({ key }) => key === 'cluster-plan');
  };

  describe('a file of plans', () => {
    test(
      'fails an upgrade where it is wrong, is applied by the next, and changes nothing the second time',
      async () => {
        const { kubectl, upgrade } = stack();
        const latest = async () => (await tollgate('audit', 'list', '--limit', '1'))['entries'];
        const before = await latest();
        const message = await upgrade({ plans: { file: WRONG_PLANS } }).then(() => 'not refused', messageOf);
        expect(message).toContain('post-upgrade hooks failed');
        expect(message).toMatch(/points_limt.*points_limit/s);
        expect([await applied(), await latest()]).toEqual([[], before]);
        // The version that runs isn't touched. The failed Job stays with its log.
        await kubectl('rollout', 'status', `deployment/${RELEASE}-account`, '--timeout=10s');
        await kubectl('delete', 'jobs', '--selector=app.kubernetes.io/component=plans', '--wait=false');

        await upgrade({ plans: { file: PLANS } });
        const made = [await applied(), await latest()];
        expect(made).toMatchObject([
          [{ name: 'Cluster plan', description: { points_limit: 1_000 } }],
          [{ action: 'plan_created', before: null, after: { key: 'cluster-plan' } }],
        ]);
        await upgrade({ plans: { file: PLANS } });
        expect([await applied(), await latest()]).toEqual(made);
      },
      TIME_LIMIT_MS,
    );
  });
}

/** With what Helm prints of the Job's log, which is on stdout. */
function messageOf(error: unknown): string {
  const { message = '', stdout = '' } = error as { message?: string; stdout?: string };
  return `${message}\n${stdout}`;
}
