import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CONSOLE_PATHS } from '@tollgate/console/paths';
import { startAccount } from '../../test/suite/account-under-test.ts';
import type { AccountUnderTest } from '../../test/suite/account-under-test.ts';

const PAGE = '<!doctype html><head><title>Tollgate</title></head>';
/** As account serves it. */
const OWN_PAGE =
  '<!doctype html><head><title>Data &amp; Sons $&amp;</title>' +
  '<link rel="stylesheet" href="/user/accent.css"><meta name="docs-url" content="/docs"></head>';
/** What a page of the book has that account replaces. */
const BOOK =
  '<head><title>Tokens | %PRODUCT_NAME%</title></head><img src="/docs/mark.svg">' +
  '<pre data-code="curl https://auth.tollgate.example/oauth2/token">https://data.tollgate.example/graphql ' +
  'wss://data.tollgate.example/graphql https://tollgate.example/user</pre>';
const EXCERPTS = 'pagefind_dcd{"url":"/tokens","content":"curl https://auth.tollgate.example/oauth2/token"}';
const PRELOADS = { '/user/usage': '<link rel="modulepreload" href="/user/assets/usage-abc.js">' };
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2_000))});`;

let directory: string;
let suite: AccountUnderTest;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-console-'));
  mkdirSync(join(directory, 'assets'));
  writeFileSync(join(directory, 'index.html'), PAGE);
  writeFileSync(join(directory, 'preloads.json'), JSON.stringify(PRELOADS));
  writeFileSync(join(directory, 'assets/index-abc.js'), SCRIPT);
  writeFileSync(join(directory, 'assets/index-abc.js.br'), brotliCompressSync(SCRIPT));
  mkdirSync(join(directory, 'built/customers/tokens'), { recursive: true });
  for (const folder of ['_astro', 'pagefind']) mkdirSync(join(directory, 'built/customers', folder));
  for (const name of ['index', 'tokens/index', '404'])
    writeFileSync(join(directory, `built/customers/${name}.html`), BOOK);
  writeFileSync(join(directory, 'built/customers/mark.svg'), '<svg/>');
  writeFileSync(join(directory, 'built/customers/_astro/page.abc.js'), SCRIPT);
  writeFileSync(join(directory, 'built/customers/_astro/page.abc.js.br'), brotliCompressSync(SCRIPT));
  for (const name of ['pagefind', 'pagefind-worker']) {
    writeFileSync(join(directory, `built/customers/pagefind/${name}.js`), SCRIPT);
    writeFileSync(join(directory, `built/customers/pagefind/${name}.js.br`), brotliCompressSync(SCRIPT));
  }
  mkdirSync(join(directory, 'built/customers/pagefind/fragment'));
  writeFileSync(join(directory, 'built/customers/pagefind/fragment/en_1.pf_fragment'), gzipSync(EXCERPTS));
  suite = await startAccount({
    settings: {
      CONSOLE_DIR: directory,
      DOCS_DIR: join(directory, 'docs'),
      PRODUCT_NAME: 'Data & Sons $&',
      PUBLIC_URL: 'https://data.example',
      AUTH_URL: 'https://tokens.example',
      ACCENT_COLOR: '#c2410c',
      STRICT_TRANSPORT_SECURITY: 'off',
    },
  });
});

afterAll(async () => {
  await suite.close();
  rmSync(directory, { recursive: true });
});

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${suite.account.publicUrl}${path}`, { headers });
}

test('STRICT_TRANSPORT_SECURITY=off sends none', async () => {
  expect((await get('/user')).headers.get('strict-transport-security')).toBeNull();
});

describe('the web interface', () => {
  test.each(CONSOLE_PATHS.map((path) => path.replace(/:\w+/, '17')))(
    'GET %s is its page, which is never cached',
    async (path) => {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-cache');
      expect((await response.text()).replace(PRELOADS['/user/usage'], '')).toBe(OWN_PAGE);
    },
  );

  test('each page preloads its own files', async () => {
    expect(await (await get('/user/usage')).text()).toContain(`${PRELOADS['/user/usage']}</head>`);
    expect(await (await get('/user/team')).text()).toBe(OWN_PAGE);
  });

  test('a page that a browser has is not sent again', async () => {
    const etag = (await get('/user')).headers.get('etag') ?? '';
    // fetch asks for a fresh answer unless it is told otherwise.
    const revalidated = (known: string) =>
      get('/user', { 'if-none-match': known, 'cache-control': 'max-age=0' });
    expect((await revalidated(etag)).status).toBe(304);
    expect((await revalidated('"another"')).status).toBe(200);
  });

  test('its policy allows its own files only, nothing inline, and no eval', async () => {
    const response = await get('/user');
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self'; /);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-powered-by')).toBeNull();
  });

  test('its hashed files are cached for a year, and sent compressed', async () => {
    const response = await get('/user/assets/index-abc.js', { 'accept-encoding': 'br' });
    expect(response.headers.get('cache-control')).toBe('public,max-age=31536000,immutable');
    expect(response.headers.get('content-encoding')).toBe('br');
    expect(await response.text()).toBe(SCRIPT);
    const plain = await get('/user/assets/index-abc.js', { 'accept-encoding': 'identity' });
    expect(plain.headers.get('content-encoding')).toBeNull();
    expect(await plain.text()).toBe(SCRIPT);
  });

  test.each([
    '/user/nothing',
    '/user/assets/nothing.js',
    '/user/assets/..%2Findex.html',
    '/user/api_v2/applications/1/2',
    '/users',
  ])('%s is nothing: 404 problem+json', async (path) => {
    const response = await get(path);
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });

  test('an address that does not exist is its page with status 404, for clients that accept HTML', async () => {
    const html = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
    const response = await get('/user/nothing', html);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      404,
      'text/html; charset=utf-8',
    ]);
    expect(response.headers.get('vary')).toMatch(/accept/i);
    expect(response.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; script-src 'self'; /,
    );
    expect(await response.text()).toBe(OWN_PAGE);
    const etag = response.headers.get('etag') ?? '';
    const again = await get('/user/nothing', {
      ...html,
      'if-none-match': etag,
      'cache-control': 'max-age=0',
    });
    expect(again.status).toBe(404);
    for (const path of ['/user/assets/nothing.js', '/users', '/nothing'])
      expect((await get(path, html)).headers.get('content-type')).toBe('application/problem+json');
  });

  test('another method is 405', async () => {
    const response = await fetch(`${suite.account.publicUrl}/user`, { method: 'POST', body: 'x' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

describe("the customers' book", () => {
  let untilBuilt: [page: Response, problem: Response][];

  beforeAll(async () => {
    const html = { accept: 'text/html,*/*;q=0.8' };
    untilBuilt = await Promise.all(
      ['/docs', '/docs/tokens'].map(async (path): Promise<[Response, Response]> => [
        await get(path, html),
        await get(path),
      ]),
    );
    renameSync(join(directory, 'built'), join(directory, 'docs'));
  });

  const OWN_BOOK =
    '<head><title>Tokens | Data &amp; Sons $&amp;</title><link rel="stylesheet" href="/user/accent.css"></head>' +
    '<img src="/docs/mark.svg"><pre data-code="curl https://tokens.example/oauth2/token">' +
    'https://data.example/graphql wss://data.example/graphql https://data.example/user</pre>';

  test.each(['br', 'gzip', 'identity'])(
    'its pages have the name, colour and addresses of the installation, sent as %s',
    async (encoding) => {
      for (const path of ['/docs', '/docs/tokens']) {
        const response = await get(path, { 'accept-encoding': encoding });
        expect([response.status, await response.text()]).toEqual([200, OWN_BOOK]);
        expect(response.headers.get('content-encoding')).toBe(encoding === 'identity' ? null : encoding);
        expect(response.headers.get('cache-control')).toBe('no-cache');
        const etag = response.headers.get('etag') ?? '';
        const asked = { 'accept-encoding': encoding, 'if-none-match': etag, 'cache-control': 'max-age=0' };
        expect((await get(path, asked)).status).toBe(304);
        expect((await get(path, { ...asked, 'if-none-match': '"other"' })).status).toBe(200);
      }
    },
  );

  test('excerpts that its search shows have the addresses of the installation', async () => {
    const response = await get('/docs/pagefind/fragment/en_1.pf_fragment');
    expect(await response.text()).toBe(
      EXCERPTS.replace('https://auth.tollgate.example', 'https://tokens.example'),
    );
    expect(response.headers.get('content-type')).toBe('application/octet-stream');
    expect(response.headers.get('cache-control')).toBe('no-cache');
  });

  test('an address with a slash at its end leads to the page', async () => {
    for (const path of ['/docs/tokens', '/docs']) {
      const response = await fetch(`${suite.account.publicUrl}${path}/`, { redirect: 'manual' });
      expect([response.status, response.headers.get('location')]).toEqual([301, path]);
    }
  });

  test('its policy allows its own files only; WebAssembly runs in the worker of the search alone', async () => {
    const policyOf = async (path: string) => (await get(path)).headers.get('content-security-policy') ?? '';
    for (const path of ['/docs', '/docs/pagefind/pagefind.js', '/docs/_astro/page.abc.js'])
      expect(await policyOf(path)).not.toMatch(/unsafe|\*|https?:/);
    expect(await policyOf('/docs')).toMatch(/^default-src 'none'; script-src 'self'; /);
    const worker = '/docs/pagefind/pagefind-worker.js';
    const ofSearch = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'";
    const { headers } = await get(worker);
    expect(headers.get('content-security-policy')).toBe(ofSearch);
    // The headers of a 304 replace those that the browser has kept.
    const known = { 'if-none-match': headers.get('etag') ?? '', 'cache-control': 'max-age=0' };
    const revalidated = await get(worker, known);
    expect([revalidated.status, revalidated.headers.get('content-security-policy')]).toEqual([304, ofSearch]);
  });

  test('until it is there, its pages are 503: one that looks again for people, else problem+json', async () => {
    for (const [page, problem] of untilBuilt) {
      expect([page.status, page.headers.get('retry-after')]).toEqual([503, '5']);
      expect(await page.text()).toMatch(
        /http-equiv="refresh" content="5"[^]*<title>Documentation \| Data &amp; Sons \$&amp;</,
      );
      const type = problem.headers.get('content-type');
      expect([problem.status, type]).toEqual([503, 'application/problem+json']);
    }
  });

  test('a book that is built anew is served from then on, with the pages that it has', async () => {
    const book = join(directory, 'docs/customers');
    const anew = join(directory, 'anew');
    expect((await get('/docs/new')).status).toBe(404);
    cpSync(book, anew, { recursive: true });
    mkdirSync(join(anew, 'new'));
    writeFileSync(join(anew, 'new/index.html'), BOOK);
    writeFileSync(join(anew, '_astro/page.def.js'), SCRIPT);
    renameSync(book, join(directory, 'former'));
    expect((await get('/docs')).status).toBe(200);
    renameSync(anew, book);
    for (const path of ['/docs', '/docs/new', '/docs/_astro/page.def.js'])
      expect((await get(path)).status).toBe(200);
    renameSync(book, anew);
    renameSync(join(directory, 'former'), book);
  });

  test('hashed files are kept for a year, those of the search revalidated', async () => {
    const cacheControl = async (path: string) => (await get(path)).headers.get('cache-control');
    expect(await cacheControl('/docs/_astro/page.abc.js')).toBe('public,max-age=31536000,immutable');
    expect(await cacheControl('/docs/pagefind/pagefind.js')).toBe('no-cache');
    expect(await cacheControl('/docs/mark.svg')).toBe('no-cache');
  });

  test('an address that does not exist is a problem, and a page with status 404 for people', async () => {
    for (const path of ['/docs/nothing', '/docs/pagefind/nothing.js', '/docs/..%2Findex.html']) {
      const response = await get(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([
        404,
        'application/problem+json',
      ]);
    }
    const response = await get('/docs/nothing', { accept: 'text/html' });
    expect([response.status, await response.text()]).toEqual([404, OWN_BOOK]);
  });

  test('another method is 405', async () => {
    const response = await fetch(`${suite.account.publicUrl}/docs/tokens`, { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});
