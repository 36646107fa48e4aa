import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { builtOnce } from './built-once.ts';

let root: string;
let builds = 0;

beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'tollgate-built-'));
  writeFileSync(join(root, 'source'), 'first');
});

afterAll(() => {
  rmSync(root, { recursive: true });
});

function build(): Promise<void> {
  return builtOnce({
    root,
    dist: join(root, 'dist'),
    sources: [join(root, 'source')],
    build: (outDir) => {
      builds += 1;
      mkdirSync(outDir);
      writeFileSync(join(outDir, 'page'), readFileSync(join(root, 'source')));
      return Promise.resolve();
    },
  });
}

const served = () => readFileSync(join(root, 'dist/page'), 'utf8');

test('a build is made again only when its sources have changed', async () => {
  await build();
  await build();
  expect([builds, served()]).toEqual([1, 'first']);
  writeFileSync(join(root, 'source'), 'second');
  await build();
  expect([builds, served()]).toEqual([2, 'second']);
});

test('what builds that were cut off have left is removed; builds that are under way are not', async () => {
  const { pid: ended } = spawnSync(process.execPath, ['--version']);
  const running = `dist.${String(process.ppid)}`;
  for (const half of [`dist.${String(ended)}`, `dist.${String(ended)}.former`, running])
    mkdirSync(join(root, half));
  writeFileSync(join(root, 'source'), 'third');
  await build();
  expect(readdirSync(root).sort()).toEqual(['dist', running, 'source']);
});
