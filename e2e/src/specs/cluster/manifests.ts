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

const CONTROLLER = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'ingress' } } };

/** docs/kubernetes.md, "The operators' console". */
const OPERATORS_INGRESS = [
  '--set=operators.ingress.enabled=true,operators.ingress.host=ops.example.com,operators.ingress.tlsSecret=ops-tls',
  `--set-json=operators.ingress.from=[${JSON.stringify(CONTROLLER)}]`,
  '--set=networkPolicy.enabled=true',
];

type Accepted = { kind: string; metadata: { name: string }; spec: Record<string, unknown> };

/** As the API server has read and completed them: one path of one host, and who may come by it. */
function expectOperatorsIngress(items: readonly Accepted[]): void {
  const of = (kind: string, name: string) =>
    items.find((item) => item.kind === kind && item.metadata.name === `${RELEASE}-${name}`)?.spec;
  const backend = { service: { name: `${RELEASE}-account-private`, port: { name: 'private' } } };
  expect(of('Ingress', 'operators')).toEqual({
    tls: [{ hosts: ['ops.example.com'], secretName: 'ops-tls' }],
    rules: [
      { host: 'ops.example.com', http: { paths: [{ path: '/operator', pathType: 'Prefix', backend }] } },
    ],
  });
  const { ingress } = of('NetworkPolicy', 'account') as { ingress: { from?: unknown[]; ports: unknown }[] };
  expect(ingress).toContainEqual({
    from: expect.arrayContaining([CONTROLLER]) as unknown,
    ports: [{ port: 'private', protocol: 'TCP' }],
  });
}

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
          const rendered = await render(elsewhere, values, ...WITHOUT_OPERATORS, ...OPERATORS_INGRESS);
          const accepted = JSON.parse(
            await apply(elsewhere, rendered, '--dry-run=server', '--output=json'),
          ) as { items: Accepted[] };
          const kinds = new Set(accepted.items.map(({ kind }) => kind));
          for (const kind of ['Deployment', 'Job', 'NetworkPolicy', 'Secret']) expect(kinds).toContain(kind);
          expectOperatorsIngress(accepted.items);
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
