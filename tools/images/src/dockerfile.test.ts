import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { NODE_FLAGS } from '@tollgate/stack/service';
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

test('it builds with the major version of Node.js that the project pins', () => {
  const major = /@(\d+)\./.exec(MANIFEST.dependencies.node)?.[1];
  expect(DOCKERFILE).toMatch(new RegExp(`^ARG NODE_IMAGE=node:${major ?? '-'}-slim$`, 'm'));
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
