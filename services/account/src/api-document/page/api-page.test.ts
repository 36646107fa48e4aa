import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startPeople } from '../../../test/suite/people.ts';
import type { PeopleUnderTest } from '../../../test/suite/people.ts';
import { PAGE_FILES_VERSION } from './page-files.ts';

const require = createRequire(import.meta.url);

type Served = {
  components: {
    securitySchemes: {
      session: { name: string };
      clientCredentials: { flows: { clientCredentials: { tokenUrl: string } } };
    };
  };
  paths: Record<
    '/.well-known/oauth-authorization-server',
    { get: { responses: Record<'200', { content: Record<'application/json', { example: unknown }> }> } }
  >;
};

let suite: PeopleUnderTest;

beforeAll(async () => {
  suite = await startPeople();
});

afterAll(async () => {
  await suite.close();
});

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(new URL(path, `${suite.account.publicUrl}/api/docs`), { headers });
}

describe('GET /api/openapi.json', () => {
  test('is the document, at the address where this Tollgate is reached', async () => {
    const response = await get('/api/openapi.json');
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'application/json; charset=utf-8',
    ]);
    expect(await response.json()).toMatchObject({
      openapi: '3.1.1',
      servers: [{ url: 'http://tollgate.example' }],
    });
  });

  test('has this Tollgate’s cookie and its addresses, wherever they are shown', async () => {
    const document = (await (await get('/api/openapi.json')).json()) as Served;
    const { session, clientCredentials } = document.components.securitySchemes;
    expect(session.name).toBe('tollgate_session');
    expect(clientCredentials.flows.clientCredentials.tokenUrl).toBe('http://tollgate.example/oauth2/token');
    const metadata = document.paths['/.well-known/oauth-authorization-server'].get.responses['200'];
    expect(metadata.content['application/json'].example).toMatchObject({
      issuer: 'http://tollgate.example',
      token_endpoint: 'http://tollgate.example/oauth2/token',
    });
  });

  test('isn’t sent again to who has it', async () => {
    // Node's fetch would ask for no cached answer at all, unlike browsers.
    const asked = (etag: string) =>
      get('/api/openapi.json', { 'if-none-match': etag, 'cache-control': 'max-age=0' });
    const etag = (await get('/api/openapi.json')).headers.get('etag') ?? '';
    const again = await asked(etag);
    expect([again.status, again.headers.get('etag'), (await again.text()).length]).toEqual([304, etag, 0]);
    expect((await asked('"other"')).status).toBe(200);
  });
});

describe('GET /api/docs', () => {
  test('loads its own files only, and all of them are there, to be kept', async () => {
    const page = await (await get('/api/docs')).text();
    const files = [...page.matchAll(/(?:src|href)="(docs\/[^"]+)"/g)].map(([, file]) => file ?? '');
    expect(files).toHaveLength(2);
    for (const file of files) {
      const response = await get(file);
      expect([file, response.status, response.headers.get('cache-control')]).toEqual([
        file,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(response.headers.get('content-type')).toMatch(/^text\/(?:javascript|css)/);
      const name = /docs\/([^?]+)/.exec(file)?.[1] ?? '';
      const original = readFileSync(require.resolve(`swagger-ui-dist/${name}`));
      expect(Buffer.from(await response.arrayBuffer()).equals(original)).toBe(true);
    }
    expect(page).toContain("url: 'openapi.json'");
  });

  test('its policy allows its own script and style by their hashes, and no eval', async () => {
    const response = await get('/api/docs');
    const policy = response.headers.get('content-security-policy') ?? '';
    const page = await response.text();
    for (const tag of ['script', 'style']) {
      const text = new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(page)?.[1] ?? '';
      const hash = createHash('sha256').update(text).digest('base64');
      expect(policy).toContain(`${tag}-src 'self' 'sha256-${hash}'`);
    }
    expect(policy).toMatch(/^default-src 'none';/);
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
  });

  test('its files are sent compressed to who takes that, else as they are', async () => {
    const path = '/api/docs/swagger-ui.css';
    expect((await get(path)).headers.get('content-encoding')).toBe('gzip');
    expect((await get(path, { 'accept-encoding': 'identity' })).headers.get('content-encoding')).toBeNull();
  });

  test('the version in their addresses is the one that is installed', () => {
    expect(require('swagger-ui-dist/package.json')).toMatchObject({ version: PAGE_FILES_VERSION });
  });

  test.each(['/api/docs/', '/api/docs/package.json', '/api/docs/..%2Fpackage.json', '/api/docs/__proto__'])(
    '%s is nothing: 404 problem+json',
    async (path) => {
      const response = await get(path);
      expect([response.status, response.headers.get('content-type')]).toEqual([
        404,
        'application/problem+json',
      ]);
    },
  );
});
