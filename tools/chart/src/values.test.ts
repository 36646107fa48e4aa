import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { CHART, describeWithHelm, template } from './render.ts';

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

test('values.yaml has every value of the schema', () => {
  const values: unknown = parse(readFileSync(`${CHART}/values.yaml`, 'utf8'), { merge: true });
  const missing = pathsOf(schema).filter(
    (path) => !path.endsWith('ephemeral-storage') && path !== 'global' && valueAt(values, path) === undefined,
  );
  expect(missing).toEqual([]);
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
    ['sampleUpstream.enabled=false', 'Set upstreamUrl to the address of your GraphQL API'],
    ['postgres.enabled=false', 'Set secrets.postgres.existingSecret'],
    ['redis.enabled=false', 'Set secrets.redis.existingSecret'],
  ])('%s', (value, message) => {
    const { status, stderr } = template('demo', `--set=${value}`);
    expect([status, stderr]).toEqual([1, expect.stringContaining(message)]);
  });
});
