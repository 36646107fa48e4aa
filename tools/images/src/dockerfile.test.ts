import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { NODE_FLAGS } from '@tollgate/stack/service';
import { imageTag } from './config.ts';
import { IMAGE_NAMES } from './build/image-list.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const DOCKERFILE = read('Dockerfile');
const MANIFEST = JSON.parse(read('package.json')) as {
  version: string;
  dependencies: Record<'node', string>;
};

/** The instructions of each stage, by its name. */
const STAGES = new Map(
  DOCKERFILE.split(/^(?=FROM )/m).flatMap((text) => {
    const name = /^FROM \S+ AS (\S+)$/m.exec(text)?.[1];
    return name === undefined ? [] : [[name, text] as const];
  }),
);
const stage = (name: string) => STAGES.get(name) ?? '';

test('it installs with the package manager of the launcher, in its version', () => {
  const version = /pnpm@(\d+\.\d+\.\d+)/.exec(read('scripts/install.mjs'))?.[1];
  expect(version).toBeDefined();
  expect(DOCKERFILE.match(/pnpm@[\d.]+/g)).toEqual([`pnpm@${version ?? ''}`]);
});

test('it builds with the version of Node.js that the project pins', () => {
  const version = MANIFEST.dependencies.node.split('@')[1] ?? '';
  expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  expect(DOCKERFILE).toContain(`\nARG NODE_IMAGE=node:${version}-slim\n`);
  expect(read('docs/containers.md')).toContain(`| \`node:${version}-slim\` `);
});

test.each(['postgres', 'redis'])('%s has one default image everywhere, of an exact version', (name) => {
  const files = [
    'docker-compose.yml',
    'k8s/tollgate/values.yaml',
    'docs/containers.md',
    ...(name === 'redis'
      ? ['tools/stack/src/config.ts', 'docs/configuration.md']
      : ['scripts/test.ts', 'e2e/src/stack/images.ts']),
  ];
  const named = new Set(
    files.flatMap((path) => {
      const images = read(path).match(new RegExp(`\\b${name}:\\d[\\w.-]*`, 'g')) ?? [];
      expect([path, images.length]).not.toEqual([path, 0]);
      return images;
    }),
  );
  expect([...named]).toEqual([expect.stringMatching(/^\w+:\d+(?:\.\d+)+$/)]);
});

test('docker compose, npm run images and the chart give the images the version as their tag', () => {
  const tags = [...read('docker-compose.yml').matchAll(/image: tollgate-[\w-]+:(\S+)/g)].map(
    ([, tag]) => tag,
  );
  expect(tags.length).toBeGreaterThan(5);
  expect([...new Set(tags)]).toEqual([`\${TOLLGATE_TAG:-${MANIFEST.version}}`]);
  expect([imageTag(MANIFEST.version, {}), imageTag(MANIFEST.version, { TOLLGATE_TAG: 'mine' })]).toEqual([
    MANIFEST.version,
    'mine',
  ]);
});

test('the images have the version of package.json, and run unprivileged until SIGTERM', () => {
  const text = stage('runtime');
  expect(/image\.version="(.*)"/.exec(text)?.[1]).toBe(MANIFEST.version);
  expect(text).toMatch(/^FROM scratch /);
  expect(text).toMatch(/^USER 1000:1000$/m);
  expect(text).toMatch(/^STOPSIGNAL SIGTERM$/m);
});

test.each(IMAGE_NAMES)(
  '%s is made of files alone, has a title, and checks its health if it keeps running',
  (name) => {
    const text = stage(name);
    expect(text).toMatch(/^FROM runtime /);
    expect(text).not.toMatch(/^(?:RUN|USER)\b/m);
    expect(text).toMatch(/image\.title="Tollgate .+image\.description=".+"/s);
    expect(text).toMatch(name === 'compose' ? /^HEALTHCHECK NONE$/m : /^HEALTHCHECK .*CMD \["node", /m);
  },
);

test.each(['gateway', 'auth', 'account'])('%s runs Node.js under the flags of npm start', (name) => {
  const command: unknown = JSON.parse(/^CMD (.*)$/m.exec(stage(name))?.[1] ?? 'null');
  expect(command).toEqual(['node', '--enable-source-maps', ...NODE_FLAGS, '/app/main.mjs']);
});
