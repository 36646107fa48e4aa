import { readFileSync } from 'node:fs';
import { newSampleSecrets } from '@tollgate/sample/secrets';
import { expect, test } from '@jest/globals';
import { secretFiles } from './secret-files.ts';

const COMPOSE_FILE = readFileSync(new URL('../../../docker-compose.yml', import.meta.url), 'utf8');

function services(): Map<string, string> {
  const section = /^services:\n([\s\S]*?)^networks:/m.exec(COMPOSE_FILE)?.[1] ?? '';
  const [, ...parts] = section.split(/^ {2}([a-z-]+):\n/m);
  return new Map(
    parts.flatMap((name, index) => (index % 2 === 0 ? [[name, parts[index + 1] ?? ''] as const] : [])),
  );
}

test('each container is given exactly the secrets that it reads', () => {
  const made = secretFiles(newSampleSecrets());
  const read = new Map<string, Set<string>>();
  for (const [, text] of services()) {
    const volume = /secrets-([a-z]+):\/run\/secrets:ro/.exec(text)?.[1];
    if (volume === undefined) continue;
    const files = [...text.matchAll(/\/run\/secrets\/([a-z_.]+)/g)].map(([, file]) => file ?? '');
    read.set(volume, new Set([...(read.get(volume) ?? []), ...files]));
  }
  const { demo, ...forContainers } = made;
  expect(Object.keys(demo ?? {})).toEqual(['seed-input.json', 'operator_secret', 'usage_reporter_secret']);
  expect(Object.fromEntries([...read].map(([volume, files]) => [volume, [...files].sort()]))).toEqual(
    Object.fromEntries(
      Object.entries(forContainers).map(([volume, files]) => [volume, Object.keys(files).sort()]),
    ),
  );
});

test('the compose file holds no secret, and publishes nothing beyond this machine', () => {
  for (const [, setting, value] of COMPOSE_FILE.matchAll(
    /^ +([A-Z_]*(?:SECRET|PASSWORD|PEPPER|CREDENTIAL|_URL)[A-Z_]*): (.*)$/gm,
  )) {
    expect(`${setting ?? ''} ${value ?? ''}`).toMatch(
      /_FILE \/run\/secrets\/[a-z_]+$|_URL (\$\{UPSTREAM_URL:-)?http:\/\/(?:[a-z]+:\d+|127\.0\.0\.1:\$)|_URL \$\{CONTACT_SALES_URL:-mailto:/,
    );
  }
  const published = [...COMPOSE_FILE.matchAll(/ports: \[(.*)\]/g)].map(([, ports]) => ports ?? '');
  expect(published).toHaveLength(3);
  for (const ports of published) expect(ports).toMatch(/^'127\.0\.0\.1:\$\{[A-Z]+_PORT:-\d+\}:400[012]'$/);
});

test('every container has a read-only root, no new privileges, and drops its capabilities', () => {
  for (const [name, text] of services()) {
    const inherited = /<<: \*(?:hardened|service)/.test(text);
    const own = ['read_only: true', 'cap_drop: [ALL]', "security_opt: ['no-new-privileges:true']"];
    expect([name, inherited || own.every((line) => text.includes(line))]).toEqual([name, true]);
  }
});
