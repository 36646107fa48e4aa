import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { CHART, KUBERNETES, describeWithHelm, helm, template } from './render.ts';

type Schema = {
  $ref?: string;
  allOf?: Schema[];
  properties?: Record<string, Schema>;
  definitions?: Record<string, Schema>;
};

const schema = JSON.parse(readFileSync(`${CHART}/values.schema.json`, 'utf8')) as Schema;

/** Paths of all values that the schema names, like `ingress.host`. */
function pathsOf(part: Schema, path = ''): string[] {
  const referred = part.$ref === undefined ? part : schema.definitions?.[part.$ref.split('/').at(-1) ?? ''];
  const properties = [referred, ...(referred?.allOf ?? [])].flatMap((each) =>
    Object.entries(each?.properties ?? {}),
  );
  if (properties.length === 0) return [path];
  return properties.flatMap(([name, value]) => pathsOf(value, path === '' ? name : `${path}.${name}`));
}

function valueAt(values: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], values);
}

/** Members of Kubernetes' own objects, which need no default. */
const OF_KUBERNETES = /\.(?:ephemeral-storage|(?:affinity|behavior)\..*)$/;

test('values.yaml has every value of the schema', () => {
  const values: unknown = parse(readFileSync(`${CHART}/values.yaml`, 'utf8'), { merge: true });
  const missing = pathsOf(schema).filter(
    (path) => !OF_KUBERNETES.test(path) && path !== 'global' && valueAt(values, path) === undefined,
  );
  expect(missing).toEqual([]);
});

describeWithHelm('a network of pods', () => {
  test('must be named, since there is no right default', () => {
    const { status, stderr } = template('demo', '--set-json=podNetworks=[]');
    expect([status, stderr]).toEqual([1, expect.stringContaining('Set podNetworks to the network')]);
  });
});

test('values.yaml and values/production.yaml trust no network that callers may be in', () => {
  const example = /^192\.0\.2\.\d+\/\d+$/;
  for (const file of ['values.yaml', 'values/production.yaml']) {
    const values: unknown = parse(readFileSync(`${CHART}/${file}`, 'utf8'), { merge: true });
    const proxies = valueAt(values, 'gateway.settings.TRUSTED_PROXIES') as string | undefined;
    const networks = [...(valueAt(values, 'podNetworks') as string[]), ...(proxies?.split(' ') ?? [])];
    expect([file, networks.filter((network) => !example.test(network))]).toEqual([file, []]);
  }
});

test('the ingress of values/production.yaml balances as docs/load-balancing.md says', () => {
  const page = readFileSync(`${CHART}/../../docs/load-balancing.md`, 'utf8');
  const values: unknown = parse(readFileSync(`${CHART}/values/production.yaml`, 'utf8'));
  const annotations = valueAt(values, 'ingress.annotations') as Record<string, string>;
  const snippet = annotations['haproxy.org/backend-config-snippet']?.trim().split('\n') ?? [];
  const lines = [`balance ${annotations['haproxy.org/load-balance'] ?? ''}`, ...snippet];
  expect(lines.length).toBeGreaterThan(3);
  for (const line of lines) expect(page).toContain(`\n  ${line}\n`);
});

describeWithHelm('values that docs/kubernetes.md shows', () => {
  const page = readFileSync(`${CHART}/../../docs/kubernetes.md`, 'utf8');
  const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```/gm)].map(([, block = '']) => block);

  test.each(blocks)('are accepted beside values/production.yaml: %j', (block) => {
    const directory = mkdtempSync(join(tmpdir(), 'tollgate-values-'));
    const file = join(directory, 'values.yaml');
    writeFileSync(file, block);
    const { status, stderr } = template('production', `--values=${file}`);
    rmSync(directory, { recursive: true });
    expect([status, stderr]).toEqual([0, '']);
  });
});

const OIDC =
  'operators.oidc.issuer=https://id.example.com,operators.oidc.clientId=c,operators.oidc.groups[0].group=g,operators.oidc.groups[0].role=admin';

/** What the API server refuses after the migrations have run, or what no rollout or drain could finish. */
describeWithHelm('values that the API server would refuse are refused before', () => {
  test.each([
    [
      'gateway.autoscaling.enabled=true,gateway.replicas=3,gateway.autoscaling.maxReplicas=2',
      'gateway.autoscaling.maxReplicas (2) is less than gateway.replicas (3)',
    ],
    ['auth.autoscaling.enabled=true,auth.replicas=0', "at '/auth/replicas': minimum"],
    [
      'auth.autoscaling.enabled=true,auth.resources.requests.cpu=null',
      "at '/auth/resources/requests': missing property 'cpu'",
    ],
    [
      'auth.autoscaling.behavior.scaleDown.stabilizationWindowSeconds=3601',
      "at '/auth/autoscaling/behavior/scaleDown/stabilizationWindowSeconds': maximum",
    ],
    ['auth.autoscaling.behavior.scaleDwon.x=1', "additional properties 'scaleDwon' not allowed"],
    ['account.maxSurge=0', "at '/account/maxSurge': minimum"],
    ['account.maxSurge=0%', "at '/account/maxSurge'"],
    ['account.disruptionBudget.maxUnavailable=0', "at '/account/disruptionBudget/maxUnavailable': minimum"],
    ['account.disruptionBudget.maxUnavailable=101%', "at '/account/disruptionBudget/maxUnavailable'"],
    ['gateway.service.nodePort=30000', "at '/gateway/service/type': value must be one of"],
    [
      'gateway.resources.requests.cpu=1001m',
      'gateway.resources.requests.cpu (1001m) is more than its limit (1)',
    ],
    [
      'postgres.resources.requests.memory=1Gi',
      'postgres.resources.requests.memory (1Gi) is more than its limit (512Mi)',
    ],
    ['migrations.resources.limits.memory=100M', 'migrations.resources.requests.memory (192Mi) is more'],
    [
      'gateway.podLabels.app\\.kubernetes\\.io/component=x',
      "invalid propertyName 'app.kubernetes.io/component'",
    ],
    ['gateway.podLabels.team=a b', "at '/gateway/podLabels/team'"],
    ['gateway.tolerations[0].operator=Exist', "at '/gateway/tolerations/0/operator'"],
    ['gateway.affinity.nodeAffinty.x=1', "additional properties 'nodeAffinty' not allowed"],
    [
      'gateway.secretSettings.A.secret=My_Secret,gateway.secretSettings.A.key=a',
      "at '/gateway/secretSettings/A/secret'",
    ],
    [
      'gateway.settings.A=1,gateway.secretSettings.A.secret=s,gateway.secretSettings.A.key=k',
      'A is in gateway.secretSettings and in settings',
    ],
    ['account.settings.PAYMENTS=stripe', 'Set secrets.stripe.existingSecret to a Secret'],
    ['graphql.schema=a,graphql.existingConfigMap=b', 'graphql.existingConfigMap and texts of files'],
    ['plans.file=a,plans.existingConfigMap=b', 'plans.existingConfigMap and plans.file are set'],
    ['plans.existingConfigMap=A_b', "at '/plans/existingConfigMap'"],
    ['plans.prune=true', "additional properties 'prune' not allowed"],
    ['graphql.existingConfigMap=A_b', "at '/graphql/existingConfigMap'"],
    ['secrets.smtp.existingSecret=My_Secret', "at '/secrets/smtp/existingSecret'"],
    ['image.tag=a/b', "at '/image/tag'"],
    ['image.registry=https://registry.example.com', "at '/image/registry'"],
    ['ingress.enabled=true,ingress.host=API.example.com', "at '/ingress/host'"],
    ['ingress.enabled=true,ingress.host=a.example.com,ingress.tlsSecret=A_b', "at '/ingress/tlsSecret'"],
    ['operators.ingress.enabled=true', "at '/operators/ingress/host': minLength"],
    ['operators.ingress.enabled=true,operators.ingress.host=OPS.example.com', "at '/operators/ingress/host'"],
    ['operators.ingress.path=/private', "additional properties 'path' not allowed"],
    ['operators.oidc.issuer=http://id.example.com', "at '/operators/oidc/issuer'"],
    ['operators.oidc.issuer=https://id.example.com', "at '/operators/oidc/clientId': minLength"],
    [`${OIDC},operators.oidc.groups[0].role=owner`, "at '/operators/oidc/groups/0/role'"],
    [`${OIDC},operators.oidc.groups[0].group=*`, "at '/operators/oidc/groups/0/group'"],
    [OIDC, 'Set secrets.operatorsOidc.existingSecret'],
    [`${OIDC},secrets.operatorsOidc.existingSecret=a`, "operators.oidc.issuer needs the console's address"],
    [
      'operators.ingress.enabled=true,operators.ingress.host=ops.example.com,networkPolicy.enabled=true',
      'Set operators.ingress.from to the pods of the ingress controller',
    ],
    ['httpRoute.enabled=true,httpRoute.parentRefs[0].kind=Gateway', "missing property 'name'"],
    [
      'networkPolicy.publicFrom[0].ipBlock.cidr=10.0.0.256/8',
      "at '/networkPolicy/publicFrom/0/ipBlock/cidr'",
    ],
    ['networkPolicy.publicFrom[0].podselector.x=1', "additional properties 'podselector' not allowed"],
    [
      'networkPolicy.egress.upstream[0].ports[0].port=65536',
      "at '/networkPolicy/egress/upstream/0/ports/0/port'",
    ],
    ['podNetworks[0]=10.0.0.0/33', "at '/podNetworks/0'"],
    ['monitoring.dashboards.labels.x=a/b', "at '/monitoring/dashboards/labels/x'"],
    ['monitoring.serviceMonitor.enabled=yes', "at '/monitoring/serviceMonitor/enabled'"],
    ['redis.storage.size=0', "at '/redis/storage/size'"],
  ])('%s', (value, message) => {
    const { status, stderr } = template('demo', `--set=${value}`);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
  });

  test('a release whose name no Service can have', () => {
    const { status, stderr } = helm(
      'template',
      'a.b',
      CHART,
      `--values=${CHART}/values/demo.yaml`,
      KUBERNETES,
    );
    expect([status, stderr]).toEqual([1, expect.stringContaining('set fullnameOverride')]);
  });
});

/** Accepted by both: names that YAML would read as numbers, wildcards, and values at their limits. */
describeWithHelm('values that the API server accepts are accepted, as text', () => {
  test.each([
    [
      ['--set=ingress.enabled=true,ingress.host=*.example.com,gateway.settings.TRUSTED_PROXIES=192.0.2.1'],
      'host: "*.example.com"',
    ],
    [
      [
        '--set=ingress.enabled=true,ingress.host=a.example.com,gateway.settings.TRUSTED_PROXIES=192.0.2.1',
        '--set-string=ingress.tlsSecret=12',
      ],
      'secretName: "12"',
    ],
    [['--set-string=gateway.priorityClassName=12'], 'priorityClassName: "12"'],
    [['--set-string=image.pullSecrets[0]=12'], 'name: "12"'],
    [['--set=account.maxSurge=100%'], 'maxSurge: 100%'],
    [['--set=gateway.service.nodePort=30000,gateway.service.type=NodePort'], 'nodePort: 30000'],
    [['--set=gateway.resources.requests.cpu=1000m'], 'cpu: 1000m'],
  ])('%j', (args, text) => {
    const { status, stdout, stderr } = template('demo', ...args);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout).toContain(text);
  });
});

describeWithHelm('wrong values are refused, by name', () => {
  test.each([
    ['gateway.replica=3', "at '/gateway': additional properties 'replica' not allowed"],
    ['nonsense=1', "at '': additional properties 'nonsense' not allowed"],
    ['gateway.replicas=three', "at '/gateway/replicas': got string, want integer"],
    ['auth.heapPercent=95', "at '/auth/heapPercent': maximum: got 95, want 90"],
    ['publicUrl=api.example.com', "at '/publicUrl'"],
    ['account.settings.mail_from=x', "'mail_from' does not match pattern"],
    ['image.pullPolicy=Sometimes', "at '/image/pullPolicy': value must be one of"],
    ['account.resources.requests.memory=lots', "at '/account/resources/requests/memory'"],
    ['monitoring.runbookUrl=runbook', "at '/monitoring/runbookUrl'"],
    ['monitoring.runbookUrl=https://git.example.com/runbook#top', "at '/monitoring/runbookUrl'"],
    ['ingress.enabled=true', "at '/ingress/host': minLength"],
    ['secrets.externalSecrets.enabled=true', "at '/secrets/externalSecrets/secretStoreRef/name': minLength"],
    ['ingress.enabled=true,ingress.host=a.example.com', 'Set gateway.settings.TRUSTED_PROXIES'],
    ['sampleUpstream.enabled=false', 'Set upstreamUrl to the address of your GraphQL API'],
    ['postgres.enabled=false', 'Set secrets.postgres.existingSecret'],
    ['redis.enabled=false', 'Set secrets.redis.existingSecret'],
  ])('%s', (value, message) => {
    const { status, stderr } = template('demo', `--set=${value}`);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});
