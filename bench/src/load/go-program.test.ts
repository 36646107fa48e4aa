import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { goProgram } from './go-program.ts';

const SHELL = ['/bin', '/usr/bin'];
const PROGRAM = { name: 'peer', source: 'example.com/peer', flags: ['-tags=one'] };

let directory: string;
let said: string[];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-go-'));
  for (const folder of ['bin', 'logs', 'bench/peers/peer'])
    mkdirSync(join(directory, folder), { recursive: true });
  for (const file of ['go.mod', 'go.sum']) writeFileSync(join(directory, 'bench/peers/peer', file), file);
  process.env['PATH'] = [join(directory, 'bin'), ...SHELL, dirname(process.execPath)].join(':');
  process.env['XDG_CACHE_HOME'] = join(directory, 'cache');
  said = [];
});

afterEach(() => {
  rmSync(directory, { recursive: true });
});

/** A program on the PATH that writes down each call. */
function install(name: string, script: string): void {
  const file = join(directory, 'bin', name);
  writeFileSync(file, `#!/bin/sh\necho "$PWD: $*" >> ${join(directory, 'calls')}\n${script}\n`);
  chmodSync(file, 0o755);
}

const calls = () => {
  const file = join(directory, 'calls');
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
};

const find = () =>
  goProgram(PROGRAM, { project: directory, directory, places: undefined, onSpawn: () => undefined }, (line) =>
    said.push(line),
  );

/** Writes the file after -o. */
const BUILDS = 'while [ "$1" != -o ]; do shift; done; echo built > "$2"';

test('a program of the PATH is taken, and nothing is built', async () => {
  install('peer', '');
  install('go', BUILDS);
  expect(await find()).toBe(join(directory, 'bin/peer'));
  expect(calls()).toEqual([]);
});

test('Go builds it at the pinned versions, once, into the cache; other versions are built anew', async () => {
  install('go', BUILDS);
  const program = await find();
  expect(readFileSync(program, 'utf8')).toBe('built\n');
  expect(program.startsWith(join(directory, 'cache/tollgate/peer-go-'))).toBe(true);
  expect(await find()).toBe(program);
  const module = join(directory, 'bench/peers/peer');
  expect(calls()).toEqual([expect.stringMatching(`^${module}: build -tags=one -o .* example.com/peer$`)]);
  expect(said).toEqual([
    expect.stringContaining('building it with'),
    expect.stringMatching(/^peer: built in \d+ s$/),
  ]);
  writeFileSync(join(module, 'go.sum'), 'another');
  expect(await find()).not.toBe(program);
});

test('without Go, and where Go fails, one line says why', async () => {
  await expect(find()).rejects.toThrow(/^no peer on the PATH, and no go that could build it$/);
  install('go', 'echo "go: example.com/peer: no such module" >&2; exit 1');
  await expect(find()).rejects.toThrow(/^peer could not be built: go: example.com\/peer: no such module$/);
});
