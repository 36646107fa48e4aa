import { describe, expect, test } from '@jest/globals';
import type { ClusterStack } from '../../stack/cluster.ts';
import { runCommand } from '../../stack/cluster/commands.ts';
import { CHART, createNamespace, RELEASE } from '../../stack/cluster/release.ts';

const TIME_LIMIT_MS = 60_000;

/** Kinds of operators that a cluster may lack. */
const WITHOUT_OPERATORS = [
  '--set=monitoring.serviceMonitor.enabled=false',
  '--set=monitoring.prometheusRule.enabled=false',
];

/** docs/kubernetes.md, "Without Helm in the cluster". */
export function manifests(stack: () => ClusterStack): void {
  const render = async (namespace: string, values: string, ...args: string[]) => {
    const { serverVersion } = JSON.parse(await runCommand('kubectl', ['version', '--output=json'])) as {
      serverVersion: { gitVersion: string };
    };
    return runCommand('helm', [
      'template',
      RELEASE,
      CHART,
      '--namespace',
      namespace,
      '--dry-run=server',
      `--kube-version=${serverVersion.gitVersion}`,
      `--values=${CHART}/values/${values}.yaml`,
      ...args,
    ]);
  };
  const apply = (namespace: string, rendered: string, ...args: string[]) =>
    runCommand('kubectl', ['apply', '--namespace', namespace, ...args, '--filename=-'], rendered);

  describe('manifests that are applied without Helm', () => {
    test.each(['demo', 'production'])(
      'the API server accepts those of values/%s.yaml',
      async (values) => {
        const { namespace } = stack();
        const elsewhere = `${namespace}-${values}`;
        const kubectl = await createNamespace(elsewhere);
        try {
          const rendered = await render(elsewhere, values, ...WITHOUT_OPERATORS);
          const accepted = await apply(elsewhere, rendered, '--dry-run=server', '--output=name');
          const kinds = new Set(
            accepted
              .trim()
              .split('\n')
              .map((name) => name.split('/')[0]),
          );
          for (const kind of ['deployment.apps', 'job.batch', 'networkpolicy.networking.k8s.io', 'secret']) {
            expect(kinds).toContain(kind);
          }
        } finally {
          await kubectl('delete', 'namespace', elsewhere, '--wait=false');
        }
      },
      TIME_LIMIT_MS,
    );

    test(
      'rendered again, the Secrets are those that exist',
      async () => {
        const elsewhere = `${stack().namespace}-rendered`;
        const kubectl = await createNamespace(elsewhere);
        const secrets = () => render(elsewhere, 'demo', '--show-only=templates/secrets/generated.yaml');
        try {
          const first = await secrets();
          expect(first).toContain('kind: Secret');
          expect(await secrets()).not.toBe(first);
          await apply(elsewhere, first);
          expect(await secrets()).toBe(first);
        } finally {
          await kubectl('delete', 'namespace', elsewhere, '--wait=false');
        }
      },
      TIME_LIMIT_MS,
    );
  });
}
