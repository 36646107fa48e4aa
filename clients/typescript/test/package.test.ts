import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync } from 'node:zlib';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startStack } from '@tollgate/testbed/customer-stack';
import type { Application, Stack } from '@tollgate/testbed/customer-stack';
import { findPython } from '@tollgate/testbed/python';
import { build } from 'esbuild';
import { publint } from 'publint';
import { packLibraries } from '../../../packages/docs/scripts/pack-libraries.ts';
import { pack } from './suite/pack.ts';

const run = promisify(execFile);
const ROOM = 'clients/typescript';
/** What customers read, whose blocks say whether they are run. */
const BOOK = 'docs/customers';
const MAX_BROTLI_BYTES = 12_288;
/** Written by hand, without blank lines and comments (docs/adr/0179-shorter-client-libraries.md). */
const MAX_LINES = 599;
const GENERATED = ['api.ts', 'codes.ts', 'error-classes.ts', 'errors.ts'];

let directory: string;
let published: string;
let project: string;
let tarball: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-client-'));
  ({ published, project, tarball } = await pack(directory));
});

afterAll(() => {
  rmSync(directory, { recursive: true });
});

test('the package has its code, types, README, changelog and licence, and nothing else', () => {
  const installed = join(project, 'node_modules/@tollgate/client');
  expect(readdirSync(installed).toSorted()).toEqual([
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'dist',
    'package.json',
  ]);
  expect(readdirSync(join(installed, 'dist')).filter((name) => !/^[\w-]+\.(?:js|d\.ts)$/.test(name))).toEqual(
    [],
  );
});

test('publint has nothing to say', async () => {
  const { messages } = await publint({ pkgDir: published, pack: false, strict: true });
  expect(messages).toEqual([]);
});

test('the types are right for ESM and bundlers', async () => {
  const result = await checkPackage(createPackageFromTarballData(readFileSync(tarball)));
  if (result.types === false) throw new Error('There are no types.');
  const problems = result.problems.map(
    ({ kind, ...rest }) => `${kind} ${'resolutionKind' in rest ? rest.resolutionKind : ''}`,
  );
  // It is ESM only: CommonJS loads it by import(), or by require() from Node.js 22.12 on.
  expect(
    problems.filter((problem) => !/^(?:NoResolution|CJSResolvesToESM) node1[06](?:-cjs)?$/.test(problem)),
  ).toEqual([]);
});

test('it is small', async () => {
  const { outputFiles } = await build({
    entryPoints: [join(published, 'dist/index.js')],
    bundle: true,
    minify: true,
    format: 'esm',
    external: ['graphql-ws'],
    write: false,
  });
  expect(brotliCompressSync(outputFiles[0]?.contents ?? '').length).toBeLessThan(MAX_BROTLI_BYTES);
});

test('what is written by hand stays small', () => {
  const names = readdirSync(join(ROOM, 'src')).filter(
    (name) => !name.endsWith('.test.ts') && !GENERATED.includes(name),
  );
  const lines = names.flatMap((name) =>
    readFileSync(join(ROOM, 'src', name), 'utf8')
      .replaceAll(/^ *\/\*\*[^]*?\*\/$/gm, '')
      .split('\n')
      .filter((line) => !/^ *(?:\/\/.*)?$/.test(line)),
  );
  expect(lines.length).toBeLessThanOrEqual(MAX_LINES);
});

test('graphql-ws is all that it needs', () => {
  const sources = readdirSync(join(published, 'dist')).filter((name) => name.endsWith('.js'));
  const imported = sources.flatMap((name) =>
    [...readFileSync(join(published, 'dist', name), 'utf8').matchAll(/from '([^.][^']*)'/g)].map(
      ([, from]) => from,
    ),
  );
  expect(new Set(imported)).toEqual(new Set(['graphql-ws/client']));
});

describe('in a project of its own', () => {
  let stack: Stack;
  let application: Application;
  let env: Record<string, string>;

  beforeAll(async () => {
    packLibraries(join(directory, 'docs/customers/libraries'));
    for (const name of ['index.html', '404.html', 'mark.svg'])
      writeFileSync(join(directory, 'docs/customers', name), '');
    for (const folder of ['_astro', 'pagefind']) mkdirSync(join(directory, 'docs/customers', folder));
    stack = await startStack({ docsDirectory: join(directory, 'docs') });
    application = await stack.newApplication({ points_limit: 1_000, rate_limit: 6_000 });
    const { clientId, clientSecret } = application;
    const form = {
      grant_type: 'client_credentials',
      scope: 'api',
      client_id: clientId,
      client_secret: clientSecret,
    };
    const response = await fetch(`${stack.url}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams(form),
    });
    const { access_token } = (await response.json()) as { access_token: string };
    env = {
      PATH: process.env['PATH'] ?? '',
      TOLLGATE_URL: stack.url,
      TOLLGATE_CLIENT_ID: clientId,
      TOLLGATE_CLIENT_SECRET: clientSecret,
      TOLLGATE_TOKEN: access_token,
    };
  });

  afterAll(async () => {
    await stack.stop();
  });

  async function runProgram(
    source: string,
    name: string,
    more: Record<string, string> = {},
    node = process.execPath,
  ) {
    writeFileSync(join(project, name), source);
    return (await run(node, [name], { cwd: project, env: { ...env, ...more }, timeout: 50_000 })).stdout;
  }

  const blocks = [...readFileSync(join(ROOM, 'README.md'), 'utf8').matchAll(/^```ts\n([^]*?)^```/gm)];
  const OUTPUTS = [
    /^Switzerland: 2 points, \d+ left\n$/,
    /^The API says: Cannot query field "noSuchField"/,
    /^(?:[^\n]+\n){3}$/,
    /^\d+ of 1000\n0 points in addition\n$/,
    /^$/,
  ];

  test('each code block of the README has an output here', () => {
    expect(blocks).toHaveLength(OUTPUTS.length);
  });

  test.each(OUTPUTS.map((output, index) => [index, output] as const))(
    'block %d of the README runs',
    async (index, output) => {
      expect(await runProgram(blocks[index]?.[1] ?? '', `block-${String(index)}.ts`)).toMatch(output);
    },
  );

  // Those of authorization.md need a person, so the suite of account runs them (connections/libraries.test.ts).
  const pages = readdirSync(BOOK).filter((page) => page !== 'authorization.md');

  test.each(pages)("the blocks of the customers' book in %s run in order", async (page) => {
    const outputs: { language: string; text: string }[] = [];
    const lines = ['set -eu'];
    const { TOLLGATE_CLIENT_ID = '', TOLLGATE_CLIENT_SECRET = '' } = env;
    const known = new Set(['CLIENT_ID', 'CLIENT_SECRET']);
    for (const { language, kind, text } of bookBlocks(page)) {
      if (kind === 'output') outputs.push({ language, text });
      else if (kind === 'run') lines.push(`printf '\\0%s\\0' ${String(outputs.length)}`, text);
      // What the reader fills in.
      else for (const [, name = ''] of text.matchAll(/^export (\w+)=/gm)) expect(known).toContain(name);
    }
    const script = lines.join('\n').replaceAll(/https:\/\/(?:data\.|auth\.)?tollgate\.example/g, stack.url);
    const own = { ...env, CLIENT_ID: TOLLGATE_CLIENT_ID, CLIENT_SECRET: TOLLGATE_CLIENT_SECRET };
    const { stdout } = await run('sh', ['-c', script], { env: own, timeout: 50_000 });
    const printed = stdout.replaceAll('\r', '').split('\0').slice(1);
    for (const [index, { language, text }] of outputs.entries()) {
      const own = printed[printed.lastIndexOf(String(index)) + 1] ?? '';
      if (language === 'json') expect(JSON.parse(own)).toEqual(JSON.parse(text, anyString));
      else expect(own).toMatch(patternOf(text));
    }
  });

  describe('installed from the book', () => {
    const languages = readFileSync(join(BOOK, 'languages.md'), 'utf8');
    const commandOf = (tool: string) =>
      new RegExp(`^${tool} install .*`, 'm')
        .exec(languages)?.[0]
        .replace('https://tollgate.example', stack.url) ?? '';

    test('the TypeScript library makes a call', async () => {
      const empty = join(directory, 'by-npm');
      mkdirSync(empty);
      // What it needs is from this machine, not from a registry.
      const folderOf = (path: string) => `file:${realpathSync(path)}`;
      const socket = realpathSync(join(ROOM, 'node_modules/graphql-ws'));
      const overrides = { 'graphql-ws': folderOf(socket), graphql: folderOf(join(socket, '../graphql')) };
      writeFileSync(join(empty, 'package.json'), JSON.stringify({ type: 'module', overrides }));
      await run('sh', ['-c', `${commandOf('npm')} --registry=http://127.0.0.1:9 --no-audit --no-fund`], {
        cwd: empty,
        env,
      });
      writeFileSync(join(empty, 'first.ts'), blocks[0]?.[1] ?? '');
      const { stdout } = await run(process.execPath, ['first.ts'], { cwd: empty, env });
      expect(stdout).toMatch(OUTPUTS[0] ?? /^$/);
    });

    test('the Python library makes a call', async () => {
      const python = await findPython('clients/python/tests/requirements.txt');
      if (python === null) return;
      const installed = join(directory, 'by-pip');
      const options = '--quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation';
      await run('sh', ['-c', `'${python}' -m ${commandOf('pip')} ${options} --target '${installed}'`], {
        env,
      });
      const [, block = ''] =
        /^```python\n([^]*?)^```/m.exec(readFileSync('clients/python/README.md', 'utf8')) ?? [];
      const { stdout } = await run(python, ['-c', block], { env: { ...env, PYTHONPATH: installed } });
      expect(stdout).toMatch(OUTPUTS[0] ?? /^$/);
    }, 300_000);

    test('its checksums are those of the book', async () => {
      const text = await (await fetch(`${stack.url}/docs/libraries/SHA256SUMS.txt`)).text();
      const sums = text
        .trim()
        .split('\n')
        .map((line) => line.split('  '));
      expect(sums.map(([, path = '']) => `https://tollgate.example/docs/libraries/${path}`)).toEqual(
        ['npm', 'pip'].map((tool) => new RegExp(`^${tool} install (.*)`, 'm').exec(languages)?.[1]),
      );
      for (const [sum, path = ''] of sums) {
        const archive = await (await fetch(`${stack.url}/docs/libraries/${path}`)).bytes();
        expect(createHash('sha256').update(archive).digest('hex')).toBe(sum);
      }
    });
  });

  test('under the Node.js of this machine, too', async () => {
    // The suites run under the pinned one, which is newer.
    const node = process.env['npm_node_execpath'] ?? process.execPath;
    const source = (blocks[0]?.[1] ?? '').replace('_URL!', '_URL').replace(/<\{.*\}>/, '');
    expect(await runProgram(source, 'old.mjs', {}, node)).toMatch(OUTPUTS[0] ?? /^$/);
  });

  test('through a proxy of the environment', async () => {
    const tunnels: string[] = [];
    const proxy = createServer((req, res) => {
      const target = new URL(req.url ?? '');
      tunnels.push(target.host);
      const { method, headers } = req;
      const passOn = (response: IncomingMessage) => {
        response.pipe(res.writeHead(response.statusCode ?? 502, response.headers));
      };
      req.pipe(request(target, { method, headers }, passOn));
    });
    proxy.on('connect', (req, socket) => {
      const target = new URL(`http://${req.url ?? ''}`);
      tunnels.push(target.host);
      const upstream = connect(Number(target.port), target.hostname, () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    const { port } = proxy.address() as AddressInfo;
    try {
      const more = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: `http://127.0.0.1:${String(port)}` };
      expect(await runProgram(blocks[0]?.[1] ?? '', 'proxied.ts', more)).toMatch(OUTPUTS[0] ?? /^$/);
      expect(tunnels).toContain(new URL(stack.url).host);
    } finally {
      proxy.close();
      proxy.closeAllConnections();
    }
  });
});

function bookBlocks(page: string) {
  const blocks = readFileSync(join(BOOK, page), 'utf8').matchAll(
    /^```(\w+) (run|setup|output)\n([^]*?)^```/gm,
  );
  return [...blocks].map(([, language = '', kind = '', text = '']) => ({ language, kind, text }));
}

/** In outputs of the book, `…` stands for what differs from call to call. */
const anyString = (_key: string, value: unknown): unknown => (value === '…' ? expect.any(String) : value);

function patternOf(text: string): RegExp {
  const literal = text.trim().replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  return new RegExp(`^${literal.replaceAll('…', '[^]*?')}\\s*$`);
}
