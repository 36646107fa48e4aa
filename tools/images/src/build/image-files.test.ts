import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const TIME_LIMIT_MS = 300_000;

/** What a layer records of each file below a folder. */
function layer(root: string): string[] {
  return readdirSync(root, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      const { mode, mtimeMs } = lstatSync(path);
      const content = entry.isSymbolicLink() ? readlinkSync(path) : entry.isFile() ? readFileSync(path) : '';
      const digest = createHash('sha256').update(content).digest('hex');
      return [relative(root, path), mode.toString(8), mtimeMs, digest].join(' ');
    })
    .sort();
}

async function writeFiles(program: string, ...args: string[]): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), 'tollgate-image-'));
  const script = join(import.meta.dirname, `${program}.ts`);
  await promisify(execFile)(process.execPath, [script, ...args, root]);
  const found = layer(root);
  rmSync(root, { recursive: true });
  return found;
}

test(
  'the files of an image are the same from build to build: content, mode and time',
  async () => {
    const first = await writeFiles('image-files', 'account');
    expect(first.map((line) => line.split(' ')[0])).toEqual(
      expect.arrayContaining([
        'app/main.mjs',
        'app/sbom.cdx.json',
        'app/console/index.html',
        'app/docs/customers/tokens/index.html',
        'app/docs/operators/runbook/index.html',
        'usr/local/bin/tollgate',
      ]),
    );
    expect(await writeFiles('image-files', 'account')).toEqual(first);
  },
  TIME_LIMIT_MS,
);

test(
  'so are Node.js and the libraries that it needs',
  async () => {
    const first = await writeFiles('runtime-files');
    expect(first.join('\n')).toMatch(/^usr\/local\/bin\/node 100755 /m);
    expect(first.join('\n')).toMatch(/libc\.so/);
    expect(await writeFiles('runtime-files')).toEqual(first);
  },
  TIME_LIMIT_MS,
);
