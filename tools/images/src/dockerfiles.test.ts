import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { NODE_FLAGS } from '@tollgate/stack/service';

const ROOT = new URL('../../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, ROOT), 'utf8');
const DOCKERFILES = globSync('{services/*,tools/*,sample-upstream}/Dockerfile', { cwd: ROOT.pathname });

test('the images share their first stages to the letter, so that one installation serves all', () => {
  expect(DOCKERFILES.length).toBeGreaterThanOrEqual(5);
  const shared = new Set(DOCKERFILES.map((path) => read(path).split('RUN node tools/images')[0]));
  expect(shared.size).toBe(1);
});

test('they install with the package manager of the launcher, in its version', () => {
  const version = /pnpm@(\d+\.\d+\.\d+)/.exec(read('scripts/install.mjs'))?.[1];
  expect(version).toBeDefined();
  for (const path of DOCKERFILES) expect(read(path)).toContain(`npx --yes pnpm@${version ?? ''} install`);
});

test('they run unprivileged, end on SIGTERM and check their own health', () => {
  for (const path of DOCKERFILES.filter((file) => !file.startsWith('tools/'))) {
    const text = read(path);
    expect(text).toMatch(/^USER 1000:1000$/m);
    expect(text).toMatch(/^STOPSIGNAL SIGTERM$/m);
    expect(text).toMatch(/^HEALTHCHECK .*\["node", /m);
  }
});

test.each(DOCKERFILES.filter((path) => path.startsWith('services/')))(
  '%s runs Node.js under the flags of npm start',
  (path) => {
    const command: unknown = JSON.parse(/^CMD (.*)$/m.exec(read(path))?.[1] ?? 'null');
    expect(command).toEqual(['node', '--enable-source-maps', ...NODE_FLAGS, '/app/main.mjs']);
  },
);
