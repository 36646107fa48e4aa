import { describe, expect, test } from '@jest/globals';
import { postGraphql, readUsage, settledUsage } from '../../caller.ts';
import { newCustomer } from '../../load/customer.ts';
import type { ClusterStack } from '../../stack/cluster.ts';
import { report } from './report.ts';

const TIME_LIMIT_MS = 300_000;
const QUERY = '{ country(code: "IS") { name } }';

/** What an uninstalled release leaves: its data, and the Secrets without which nothing can read it. */
const LEFT = [
  'persistentvolumeclaim/data-tollgate-postgres-0',
  'persistentvolumeclaim/data-tollgate-redis-0',
  'secret/tollgate-client-secret-peppers',
  'secret/tollgate-postgres',
  'secret/tollgate-redis',
  'secret/tollgate-seed',
  'secret/tollgate-token-sealing-keys',
];

/** What every namespace has, or what only tells of other objects. */
const OF_CLUSTER = /^(?:event|podmetrics|serviceaccount\/default$|configmap\/kube-root-ca\.crt$)/;

/** Ends with the last test of the suite: the release is uninstalled, and installed again. */
export function reinstallation(stack: () => ClusterStack): void {
  async function objects(): Promise<string[]> {
    const { kubectl } = stack();
    const kinds = (await kubectl('api-resources', '--verbs=list', '--namespaced', '--output=name'))
      .trim()
      .split('\n')
      .filter((kind) => !OF_CLUSTER.test(kind));
    const names = await kubectl('get', kinds.join(), '--output=name', '--ignore-not-found');
    return names
      .trim()
      .split('\n')
      .filter((name) => !OF_CLUSTER.test(name))
      .toSorted();
  }

  describe('helm uninstall', () => {
    test(
      'leaves the volumes and their Secrets, and a new installation finds its data again',
      async () => {
        const { demo, uninstall, install } = stack();
        const { token } = await newCustomer(demo, 'patient');
        await postGraphql(demo, token, QUERY);
        const before = await settledUsage(demo, token);

        await uninstall();
        expect(await objects()).toEqual(LEFT);

        await install();
        expect(await readUsage(stack().demo, token)).toEqual(before);
        const response = await postGraphql(stack().demo, token, QUERY);
        expect([response.status, await response.json()]).toEqual([
          200,
          expect.objectContaining({ data: { country: { name: 'Iceland' } } }),
        ]);
        const after = (await settledUsage(stack().demo, token)).billing_period.usage;
        expect(after.requests_usage).toBe(before.billing_period.usage.requests_usage + 2);
        report('reinstallation', { before: before.billing_period.usage, after });
      },
      TIME_LIMIT_MS,
    );
  });
}
