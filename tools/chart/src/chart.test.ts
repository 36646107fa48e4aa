import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { REDIS_DATA_SETTINGS } from '@tollgate/redis/server-settings';
import type { Manifest } from './manifests.ts';
import {
  CHART,
  VALUES_FILES,
  containersOf,
  describeWithHelm,
  hasHelm,
  helm,
  podSpecs,
  render,
} from './render.ts';

const SERVICES = ['gateway', 'auth', 'account'];
const COMPONENT = 'app.kubernetes.io/component';
const CONFIGURATION = readFileSync(new URL('../../../docs/configuration.md', import.meta.url), 'utf8');

test('helm is on the PATH where the cluster suite is required', () => {
  expect(hasHelm || process.env['REQUIRE_CLUSTER'] !== '1').toBe(true);
});

describeWithHelm.each(VALUES_FILES)('the manifests of values/%s.yaml', (values) => {
  const manifests = () => render(values);
  const services = (all: Manifest[]) =>
    all.filter(({ kind, metadata }) => kind === 'Deployment' && SERVICES.includes(componentOf(metadata)));

  test('pass helm lint', () => {
    const { status, stdout } = helm('lint', CHART, `--values=${CHART}/values/${values}.yaml`);
    expect([status, stdout]).toEqual([0, expect.not.stringMatching(/ERROR|WARNING/)]);
  });

  test('meet the restricted Pod Security standard, with nothing to write to', () => {
    for (const pod of podSpecs(manifests())) {
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of containersOf(pod)) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.resources).toMatchObject({
          requests: { cpu: expect.any(String), memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
      }
    }
  });

  test('replace the pods of each service one by one, and give them the time they need to end', () => {
    const deployments = services(manifests());
    expect(deployments.map(({ metadata }) => componentOf(metadata)).sort()).toEqual([...SERVICES].sort());
    for (const { spec } of deployments) {
      expect(spec?.strategy?.rollingUpdate?.maxUnavailable).toBe(0);
      const pod = spec?.template?.spec;
      const env = new Map(pod?.containers[0]?.env?.map(({ name, value }) => [name, Number(value)]));
      const shutdownMs = (env.get('SHUTDOWN_DELAY_MS') ?? NaN) + (env.get('SHUTDOWN_TIMEOUT_MS') ?? NaN);
      expect((pod?.terminationGracePeriodSeconds ?? 0) * 1_000).toBeGreaterThan(shutdownMs);
      expect(pod?.topologySpreadConstraints?.map(({ topologyKey }) => topologyKey)).toEqual([
        'kubernetes.io/hostname',
        'topology.kubernetes.io/zone',
      ]);
    }
  });

  test('probe the private port; what keeps a pod alive and in its Service depends on nothing else', () => {
    for (const { spec } of services(manifests())) {
      const [container] = spec?.template?.spec.containers ?? [];
      expect(container?.startupProbe?.httpGet).toEqual({ path: '/health/ready', port: 'private' });
      for (const probe of [container?.readinessProbe, container?.livenessProbe]) {
        expect(probe?.httpGet).toEqual({ path: '/health/live', port: 'private' });
      }
    }
  });

  test('give each service a budget for disruptions, and no private port a public Service', () => {
    const all = render(values, ...SERVICES.map((name) => `--set=${name}.service.type=LoadBalancer`));
    const budgets = all.filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budgets.map(({ metadata }) => componentOf(metadata)).sort()).toEqual([...SERVICES].sort());
    for (const { spec } of all.filter(
      (each) => each.kind === 'Service' && each.spec?.type === 'LoadBalancer',
    )) {
      expect(spec?.ports?.map(({ targetPort }) => targetPort)).toEqual(['public']);
    }
  });

  test('probe whether each container that goes on is alive, and are in no hurry to end one', () => {
    const lasting = manifests().filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
    for (const { metadata, spec } of lasting) {
      for (const { livenessProbe: probe } of spec?.template?.spec.containers ?? []) {
        const failingSeconds = (probe?.periodSeconds ?? 0) * (probe?.failureThreshold ?? 0);
        expect([metadata.name, failingSeconds >= 60]).toEqual([metadata.name, true]);
      }
    }
  });

  test('lead every Service to a port of pods that exist', () => {
    const all = manifests();
    const ports = new Map(
      podSpecs(all).map((pod) => [
        pod.component,
        containersOf(pod).flatMap((each) => each.ports?.map(({ name }) => name) ?? []),
      ]),
    );
    for (const { spec } of all.filter(({ kind }) => kind === 'Service')) {
      const component = spec?.selector?.[COMPONENT] as string;
      for (const { targetPort } of spec?.ports ?? []) expect(ports.get(component)).toContain(targetPort);
    }
  });

  test('have a NetworkPolicy for every pod', () => {
    const all = manifests();
    const policies = all.filter(({ kind }) => kind === 'NetworkPolicy');
    const covered = policies.map(({ spec }) => spec?.podSelector?.matchLabels[COMPONENT]);
    expect(covered.sort()).toEqual([...new Set(podSpecs(all).map(({ component }) => component))].sort());
    for (const { spec } of policies) expect(spec?.policyTypes).toEqual(['Ingress', 'Egress']);
  });

  test('pass secrets as files, each of them to the containers that read it', () => {
    for (const pod of podSpecs(manifests())) {
      const containers = containersOf(pod);
      const files = (pod.volumes ?? [])
        .flatMap(({ projected }) => projected?.sources ?? [])
        .flatMap(({ secret }) => secret.items.map(({ path }) => `/run/secrets/tollgate/${path}`));
      const read = containers
        .flatMap(({ env = [] }) => env)
        .filter(({ name }) => name.endsWith('_FILE'))
        .map(({ value }) => value);
      expect([...new Set(read)].sort()).toEqual([...files].sort());
      for (const { env = [], envFrom } of containers) {
        expect(envFrom).toBeUndefined();
        expect(env.filter(({ valueFrom }) => valueFrom !== undefined)).toEqual([]);
      }
    }
  });

  test('set only settings that docs/configuration.md describes', () => {
    for (const { spec } of services(manifests())) {
      for (const { name } of spec?.template?.spec.containers[0]?.env ?? []) {
        if (['NODE_OPTIONS', 'TOLLGATE_CREDENTIAL_FILE'].includes(name)) continue;
        expect(CONFIGURATION).toContain(`\`${name.replace(/_FILE$/, '')}\``);
      }
    }
  });

  test('contain no Secret: without a cluster, Helm would replace those that exist', () => {
    expect(manifests().filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });
});

describeWithHelm('the chart', () => {
  test('gives its Redis the settings that the stack relies on', () => {
    const config = render('demo').find(({ kind, data }) => kind === 'ConfigMap' && data?.['redis.conf']);
    expect(config?.data?.['redis.conf']?.trim().split('\n')).toEqual(['dir /data', ...REDIS_DATA_SETTINGS]);
  });

  test('gives the certificates of the stores to everything that connects to them', () => {
    const stores = {
      postgresTls: ['DATABASE', ['account', 'migrate', 'seed']],
      redisTls: ['REDIS', SERVICES],
    } as const;
    const set = Object.keys(stores).flatMap((topic) => [
      `--set=secrets.${topic}.existingSecret=${topic.toLowerCase()}`,
      `--set=secrets.${topic}.serverName=a.internal`,
      `--set=secrets.${topic}.certificate=tls.crt`,
      `--set=secrets.${topic}.key=tls.key`,
    ]);
    for (const pod of podSpecs(render('demo', ...set))) {
      for (const [topic, [prefix, components]] of Object.entries(stores)) {
        const path = (file: string) => `/run/secrets/tollgate/${topic}/${file}`;
        const expected = [
          { name: `${prefix}_TLS_CA_FILE`, value: path('ca.crt') },
          { name: `${prefix}_TLS_CERTIFICATE_FILE`, value: path('tls.crt') },
          { name: `${prefix}_TLS_KEY_FILE`, value: path('tls.key') },
          { name: `${prefix}_TLS_SERVER_NAME`, value: 'a.internal' },
        ];
        const isUser = (components as readonly string[]).includes(pod.component);
        for (const { env = [] } of containersOf(pod)) {
          const isConnecting = env.some(({ name }) => name === `${prefix}_URL_FILE`);
          expect(env.filter(({ name }) => name.startsWith(`${prefix}_TLS_`))).toEqual(
            isConnecting ? expected : [],
          );
        }
        const sources = pod.volumes?.flatMap(({ projected }) => projected?.sources ?? []) ?? [];
        const keys = sources.flatMap(({ secret }) =>
          secret.name === topic.toLowerCase() ? secret.items : [],
        );
        expect(keys.map(({ key }) => key)).toEqual(isUser ? ['ca.crt', 'tls.crt', 'tls.key'] : []);
      }
    }
  });

  test('runs the workers of account in pods of their own if it is told to', () => {
    const roles = (...args: string[]) =>
      render('production', ...args).flatMap(({ kind, metadata, spec }) => {
        const [container] = kind === 'Deployment' ? (spec?.template?.spec.containers ?? []) : [];
        if (container?.name !== 'account') return [];
        const env = new Map(container.env?.map(({ name, value }) => [name, value]));
        const ports = container.ports?.map(({ name }) => name).join();
        return [
          [componentOf(metadata), spec?.replicas, env.get('PROCESS_ROLE'), env.get('MAIL_FROM'), ports],
        ];
      });
    const sender = 'Tollgate <noreply@example.com>';
    expect(roles()).toEqual([['account', undefined, undefined, sender, 'public,private']]);
    expect(
      roles('--set=accountWorkers.enabled=true', '--set=accountWorkers.settings.MAIL_FROM=x@example.com'),
    ).toEqual([
      ['account', undefined, 'api', sender, 'public,private'],
      ['account-workers', 2, 'workers', 'x@example.com', 'private'],
    ]);
  });

  test('connects the pods of workers as it does those of account, and lets only Prometheus reach them', () => {
    const manifests = render(
      'demo',
      '--set=accountWorkers.enabled=true,accountWorkers.autoscaling.enabled=true',
    );
    const ofWorkers = manifests.filter(({ metadata }) => componentOf(metadata) === 'account-workers');
    expect(ofWorkers.map(({ kind }) => kind).sort()).toEqual([
      'Deployment',
      'HorizontalPodAutoscaler',
      'NetworkPolicy',
      'PodDisruptionBudget',
      'Service',
    ]);
    const policyOf = (component: string) =>
      JSON.stringify(
        manifests.find(
          ({ kind, metadata }) => kind === 'NetworkPolicy' && componentOf(metadata) === component,
        )?.spec,
      );
    for (const store of ['postgres', 'redis', 'auth']) expect(policyOf(store)).toContain('"account-workers"');
    expect(policyOf('account-workers')).not.toContain('"gateway"');
  });

  test('sells points once it has the Secret of Stripe, which only account reads and whose host it may reach', () => {
    const stripe = { to: [{ ipBlock: { cidr: '192.0.2.9/32' } }], ports: [{ port: 443 }] };
    const rendered = (...args: string[]) =>
      render(
        'demo',
        '--set=accountWorkers.enabled=true',
        `--set-json=networkPolicy.egress.payments=[${JSON.stringify(stripe)}]`,
        ...args,
      );
    const environment = (manifests: Manifest[]) =>
      podSpecs(manifests).flatMap(({ component, containers }) =>
        (containers[0]?.env ?? [])
          .filter(({ name }) => /^(PAYMENTS|STRIPE_)/.test(name))
          .map(({ name, value }) => [component, name, value]),
      );
    const reaching = (manifests: Manifest[]) =>
      manifests
        .filter(({ kind, spec }) => kind === 'NetworkPolicy' && JSON.stringify(spec).includes('192.0.2.9'))
        .map(({ metadata }) => componentOf(metadata));
    expect([environment(rendered()), reaching(rendered())]).toEqual([[], []]);
    const selling = rendered('--set=secrets.stripe.existingSecret=tollgate-stripe');
    const sellers = ['account', 'account-workers'];
    expect(environment(selling)).toEqual(
      sellers.flatMap((component) => [
        [component, 'PAYMENTS', 'stripe'],
        [component, 'STRIPE_SECRET_KEY_FILE', '/run/secrets/tollgate/stripe/stripe_secret_key'],
        [component, 'STRIPE_WEBHOOK_SECRET_FILE', '/run/secrets/tollgate/stripe/stripe_webhook_secret'],
      ]),
    );
    expect(reaching(selling)).toEqual(sellers);
  });

  test('leads operators to one path of account’s private listener, and account to their identity provider', () => {
    const provider = { to: [{ ipBlock: { cidr: '192.0.2.8/32' } }], ports: [{ port: 443 }] };
    const controller = { podSelector: { matchLabels: { app: 'ingress-controller' } } };
    const rendered = (...args: string[]) =>
      render(
        'demo',
        '--set=networkPolicy.enabled=true',
        `--set-json=networkPolicy.egress.identityProvider=[${JSON.stringify(provider)}]`,
        `--set-json=operators.ingress.from=[${JSON.stringify(controller)}]`,
        ...args,
      );
    const environment = (manifests: Manifest[]) =>
      podSpecs(manifests).flatMap(({ component, containers }) =>
        (containers[0]?.env ?? [])
          .filter(({ name }) => name.startsWith('OPERATORS_'))
          .map(({ name, value }) => [component, name, value]),
      );
    const policiesWith = (manifests: Manifest[], text: string) =>
      manifests
        .filter(({ kind, spec }) => kind === 'NetworkPolicy' && JSON.stringify(spec).includes(text))
        .map(({ metadata }) => componentOf(metadata));
    const off = rendered('--set-json=networkPolicy.egress.auditStream=[{"ports":[{"port":6514}]}]');
    expect(policiesWith(off, '6514')).toEqual(['account']);
    expect(environment(off)).toEqual([]);
    expect(policiesWith(off, '192.0.2.8')).toEqual([]);
    expect(policiesWith(off, 'ingress-controller')).toEqual([]);

    const on = rendered(
      '--set=operators.ingress.enabled=true,operators.ingress.host=ops.example.com',
      '--set=operators.oidc.issuer=https://id.example.com,operators.oidc.clientId=console',
      '--set=secrets.operatorsOidc.existingSecret=tollgate-operators',
      '--set-json=operators.oidc.groups=[{"group":"cn=ops,dc=example","role":"admin"},{"group":"50% help","role":"support"}]',
    );
    const paths = on
      .filter(({ kind, metadata }) => kind === 'Ingress' && componentOf(metadata) === 'operators')
      .flatMap(({ spec }) => (spec as { rules: { host: string; http: { paths: unknown[] } }[] }).rules)
      .flatMap(({ host, http }) => http.paths.map((path) => [host, path]));
    const service = { name: 'tollgate-account-private', port: { name: 'private' } };
    expect(paths).toEqual([
      ['ops.example.com', { path: '/operator', pathType: 'Prefix', backend: { service } }],
    ]);
    expect(on.some(({ kind, metadata }) => kind === 'Service' && metadata.name === service.name)).toBe(true);
    expect(environment(on)).toEqual([
      ['account', 'OPERATORS_OIDC_CLIENT_ID', 'console'],
      ['account', 'OPERATORS_OIDC_GROUPS', 'cn=ops%2Cdc=example=admin, 50%25 help=support'],
      ['account', 'OPERATORS_OIDC_ISSUER', 'https://id.example.com'],
      ['account', 'OPERATORS_URL', 'https://ops.example.com/operator'],
      ['account', 'OPERATORS_OIDC_CLIENT_SECRET_FILE', '/run/secrets/tollgate/operatorsOidc/client_secret'],
    ]);
    expect(policiesWith(on, '192.0.2.8')).toEqual(['account']);
    expect(policiesWith(on, 'ingress-controller')).toEqual(['account']);
  });

  test('gives the gateway, and nothing else, the files of prices and the settings that name them', () => {
    const texts = {
      schema: 'type Query { a: Int }\n# "quoted": yes',
      costs: '{"weights":{"Query.a":2}}',
      documents: '{"a":"{ a }"}',
      v1Documents: '{"b":"{ b }"}',
    };
    const values = { ...texts, v1Schema: '', v1Costs: '', existingConfigMap: '' };
    const manifests = render('production', `--set-json=graphql=${JSON.stringify(values)}`);
    const configMap = manifests.find(({ metadata }) => metadata.name === 'tollgate-gateway-graphql');
    expect(configMap?.data).toEqual({
      'schema.graphql': texts.schema,
      'costs.json': texts.costs,
      'documents.json': texts.documents,
      'v1-documents.json': texts.v1Documents,
    });
    for (const { component, containers, volumes = [] } of podSpecs(manifests)) {
      const isGateway = component === 'gateway';
      const [container] = containers;
      const mount = container?.volumeMounts?.find(({ name }) => name === 'graphql');
      const settings = container?.env?.filter(({ name }) => name.startsWith('GRAPHQL_')) ?? [];
      expect([component, mount?.mountPath, volumes.some(({ name }) => name === 'graphql')]).toEqual([
        component,
        isGateway ? '/etc/tollgate/graphql' : undefined,
        isGateway,
      ]);
      const file = (name: string) => `/etc/tollgate/graphql/${name}`;
      expect(settings).toEqual(
        isGateway
          ? [
              { name: 'GRAPHQL_COSTS', value: file('costs.json') },
              { name: 'GRAPHQL_DOCUMENTS', value: file('documents.json') },
              { name: 'GRAPHQL_SCHEMA', value: file('schema.graphql') },
              { name: 'GRAPHQL_V1_DOCUMENTS', value: file('v1-documents.json') },
            ]
          : [],
      );
    }
  });

  test('applies a file of plans after the new version, with a credential that account alone takes', () => {
    const file = "plans:\n  starter: { name: 'Starter #1' }\n";
    const rendered = (plans: object, ...args: string[]) =>
      render('demo', `--set-json=plans=${JSON.stringify(plans)}`, ...args);
    const off = rendered({});
    expect(off.some(({ metadata }) => componentOf(metadata) === 'plans')).toBe(false);
    const jobOf = (manifests: Manifest[]) =>
      manifests.find(({ kind, metadata }) => kind === 'Job' && componentOf(metadata) === 'plans');

    const on = rendered({ file }, '--set=networkPolicy.enabled=true', '--is-upgrade');
    const configMap = on.find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'tollgate-plans',
    );
    expect(configMap?.data).toEqual({ 'plans.yaml': file });
    const job = jobOf(on);
    expect(job?.metadata.annotations).toMatchObject({
      'helm.sh/hook': 'post-install,post-upgrade',
      'helm.sh/hook-output-log-policy': 'hook-failed',
    });
    expect(job?.spec?.podFailurePolicy?.rules).toMatchObject([
      { action: 'FailJob', onExitCodes: { containerName: 'plans', operator: 'In', values: [1, 2] } },
    ]);
    const [container] = job?.spec?.template?.spec.containers ?? [];
    expect(container).toMatchObject({
      command: ['tollgate', 'apply', '--file=/etc/tollgate/plans/plans.yaml', '--yes'],
      env: [
        { name: 'TOLLGATE_URL', value: 'http://tollgate-account-private:4102' },
        {
          name: 'TOLLGATE_CREDENTIAL_FILE',
          value: '/run/secrets/tollgate/serviceCredentials/operator_credentials',
        },
      ],
    });
    const policyOf = (component: string) =>
      JSON.stringify(
        on.find(({ kind, metadata }) => kind === 'NetworkPolicy' && componentOf(metadata) === component)
          ?.spec,
      );
    expect(policyOf('account')).toContain('"plans"');
    for (const other of ['auth', 'postgres', 'redis']) expect(policyOf(other)).not.toContain('"plans"');

    // Pods of a Job can't be changed.
    expect(jobOf(rendered({ file: 'plans: {}\n' }))?.metadata.name).not.toBe(job?.metadata.name);
    const allowing = jobOf(
      rendered({ existingConfigMap: 'mine', allowUnlimited: true, allowPriceChanges: true }),
    );
    expect(allowing?.spec?.template?.spec).toMatchObject({
      containers: [{ command: expect.arrayContaining(['--allow-unlimited', '--allow-price-changes']) }],
      volumes: expect.arrayContaining([{ name: 'plans', configMap: { name: 'mine' } }]),
    });
  });

  test('prices the sample API by its own schema', () => {
    const settings = podSpecs(render('demo')).flatMap(({ containers: [container] }) => container?.env ?? []);
    expect(settings.filter(({ name }) => name === 'GRAPHQL_SCHEMA')).toEqual([
      { name: 'GRAPHQL_SCHEMA', value: 'http://tollgate-upstream:4003/schema.graphql' },
    ]);
  });

  test('migrates before the new version, beside the first one', () => {
    const hooks = (...args: string[]) =>
      render('demo', ...args).find(
        ({ metadata }) => componentOf(metadata) === 'migrate' && metadata.annotations,
      )?.metadata.annotations;
    expect(hooks('--is-upgrade')).toMatchObject({ 'helm.sh/hook': 'pre-upgrade' });
    expect(hooks()).toBeUndefined();
  });

  test('gives Jobs whose pods differ different names, since pods of a Job can not be changed', () => {
    const jobs = (...args: string[]) =>
      new Map(
        render('demo', ...args).flatMap(({ kind, metadata, spec }) =>
          kind === 'Job' ? [[metadata.name, JSON.stringify(spec?.template)] as const] : [],
        ),
      );
    const before = jobs();
    expect(before.size).toBe(2);
    for (const change of [
      'migrations.resources.limits.cpu=2',
      'image.tag=other',
      'image.pullPolicy=Always',
    ]) {
      const after = jobs(`--set=${change}`);
      expect([change, [...after.keys()].filter((name) => before.has(name))]).toEqual([change, []]);
    }
    expect(jobs()).toEqual(before);
  });

  test('ends the migrations at once when they refuse the schema, and keeps the pod with the reason', () => {
    const job = render('demo', '--is-upgrade').find(
      ({ kind, metadata }) => kind === 'Job' && componentOf(metadata) === 'migrate',
    );
    expect(job?.metadata.annotations).toMatchObject({ 'helm.sh/hook-output-log-policy': 'hook-failed' });
    expect(job?.spec?.podFailurePolicy?.rules).toMatchObject([
      { action: 'FailJob', onExitCodes: { containerName: 'migrate', operator: 'In', values: [2] } },
    ]);
    expect(job?.spec?.template?.spec).toMatchObject({
      restartPolicy: 'Never',
      containers: [{ terminationMessagePolicy: 'FallbackToLogsOnError' }],
    });
  });

  test.each([
    ['autoscaling', ['--set=gateway.autoscaling.enabled=true'], 'HorizontalPodAutoscaler'],
    [
      'an ingress',
      ['--set=ingress.enabled=true,ingress.host=api.example.com,gateway.settings.TRUSTED_PROXIES=192.0.2.1'],
      'Ingress',
    ],
    [
      'a route',
      [
        '--set=httpRoute.enabled=true,httpRoute.parentRefs[0].name=public,gateway.settings.TRUSTED_PROXIES=192.0.2.1',
      ],
      'HTTPRoute',
    ],
    ['a ServiceMonitor', ['--set=monitoring.serviceMonitor.enabled=true'], 'ServiceMonitor'],
    [
      'External Secrets',
      [
        '--set=secrets.externalSecrets.enabled=true',
        '--set=secrets.externalSecrets.secretStoreRef.name=vault',
      ],
      'ExternalSecret',
    ],
  ])('has %s when a value says so', (_name, args, kind) => {
    const kinds = (...more: string[]) => render('demo', ...more).map((manifest) => manifest.kind);
    expect(kinds()).not.toContain(kind);
    expect(kinds(...args)).toContain(kind);
  });
});

function componentOf({ labels }: Manifest['metadata']): string {
  return labels?.[COMPONENT] ?? '';
}
