import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { getUsage, obtainToken, postGraphql, postToken, tokenFields } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

/** An answer that shows a stack, a file or a Node.js error to the caller. */
const INTERNALS = /node_modules|\.ts:\d|\.js:\d|ECONN|at [A-Za-z.]+ \(|localhost|127\.0\.0\.1/;

async function read(response: Response) {
  const text = await response.text();
  expect(text).not.toMatch(INTERNALS);
  return { status: response.status, headers: response.headers, body: JSON.parse(text) as unknown };
}

export function badInput(stack: () => Stack): void {
  describe('bad input', () => {
    test('wrong credentials are invalid_client, the same whatever is wrong', async () => {
      const { demo } = stack();
      const fields = tokenFields(demo.application);
      const wrongSecret = await read(await postToken(demo.auth_url, { ...fields, client_secret: 'wrong' }));
      const unknown = { ...fields, client_id: '00000000-0000-4000-8000-000000000000' };
      const unknownClient = await read(await postToken(demo.auth_url, unknown));
      expect(wrongSecret.status).toBe(401);
      expect(wrongSecret.headers.get('www-authenticate')).toMatch(/^Basic /);
      expect(wrongSecret.headers.get('cache-control')).toBe('no-store');
      expect(wrongSecret.body).toMatchObject({ error: 'invalid_client' });
      expect(unknownClient.body).toEqual(wrongSecret.body);
      expect(unknownClient.status).toBe(401);
    });

    test('a right secret is accepted however many others fail at its address', async () => {
      const { demo } = stack();
      // An office behind one NAT, of this test's own.
      const office = { 'x-forwarded-for': '198.51.100.211' };
      const statuses = (all: Record<string, string>[]) =>
        Promise.all(all.map(async (fields) => (await postToken(demo.auth_url, fields, office)).status));
      const right = tokenFields(demo.application);
      const old = Array.from({ length: 50 }, () => ({ ...right, client_secret: 'an old secret' }));
      const madeUp = Array.from({ length: 200 }, () => ({ ...right, client_id: randomUUID() }));
      expect(new Set(await statuses([...old, ...madeUp]))).toEqual(new Set([401, 429]));
      const refused = await read(await postToken(demo.auth_url, { ...right, client_secret: 'x' }, office));
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([
        429,
        expect.stringMatching(/^\d+$/),
      ]);
      expect(await statuses([right, tokenFields(demo.member)])).toEqual([200, 200]);
    });

    test('without client authentication the answer is a challenge', async () => {
      const { demo } = stack();
      for (const authorization of [undefined, 'Bearer x', 'Digest username="x"', 'Basic !!!!']) {
        const headers = authorization === undefined ? {} : { authorization };
        const fields = { grant_type: 'client_credentials', scope: 'api' };
        const answer = await read(await postToken(demo.auth_url, fields, headers));
        expect(answer.status).toBe(401);
        expect(answer.headers.get('www-authenticate')).toMatch(/^Basic /);
        expect(answer.body).toMatchObject({ error: 'invalid_client' });
      }
    });

    test('a missing or another scope is invalid_scope', async () => {
      const { demo } = stack();
      const { scope, ...noScope } = tokenFields(demo.application);
      for (const fields of [noScope, { ...noScope, scope: 'admin' }]) {
        const { status, body } = await read(await postToken(demo.auth_url, fields));
        expect([status, body]).toEqual([400, expect.objectContaining({ error: 'invalid_scope' })]);
      }
    });

    test('a malformed, made-up or missing token is Unauthorized everywhere', async () => {
      const { demo } = stack();
      const good = await obtainToken(demo, demo.application);
      const flipped = good.slice(0, -1) + (good.endsWith('0') ? '1' : '0');
      for (const token of ['x', flipped, `${good}a`]) {
        const data = await read(await postGraphql(demo, token, '{ __typename }'));
        expect(data.status).toBe(401);
        expect(data.headers.get('www-authenticate')).toContain('error="invalid_token"');
        expect(data.body).toMatchObject({
          errors: [
            { message: 'Unauthorized', extensions: { code: 'unauthorized', request_id: expect.any(String) } },
          ],
        });
        const usage = await read(await getUsage(demo.account_url, token));
        expect(usage.status).toBe(401);
        expect(usage.headers.get('content-type')).toContain('application/problem+json');
        expect(usage.body).toMatchObject({ title: 'Unauthorized', code: 'unauthorized' });
      }
      const bare = await read(await fetch(`${demo.account_url}/api/usage`));
      expect([bare.status, bare.headers.get('www-authenticate')]).toEqual([401, 'Bearer realm="tollgate"']);
    });

    test('a body too large is refused with 413', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      const huge = await read(await postGraphql(demo, token, `{ a${'a'.repeat(2_000_000)} }`));
      expect([huge.status, huge.body]).toEqual([
        413,
        {
          errors: [
            expect.objectContaining({ extensions: expect.objectContaining({ code: 'payload_too_large' }) }),
          ],
        },
      ]);
      const form = { ...tokenFields(demo.application), extra: 'x'.repeat(100_000) };
      expect((await read(await postToken(demo.auth_url, form))).status).toBe(413);
    });

    test('an unknown path is 404 problem+json on every service', async () => {
      const { demo } = stack();
      for (const base of [demo.auth_url, demo.account_url, demo.streaming_url]) {
        const { status, headers, body } = await read(await fetch(`${base}/no/such/path`));
        expect([status, headers.get('content-type')]).toEqual([404, 'application/problem+json']);
        expect(body).toMatchObject({ code: 'not_found', status: 404, request_id: expect.any(String) });
      }
    });

    test('introspection is on the private port only, and only with a credential', async () => {
      const { demo } = stack();
      const body = new URLSearchParams({ token: await obtainToken(demo, demo.application) });
      for (const base of [demo.auth_url, demo.streaming_url]) {
        expect((await fetch(`${base}/oauth2/introspect`, { method: 'POST', body })).status).toBe(404);
      }
      const anonymous = await fetch(`${demo.private.auth_url}/oauth2/introspect`, { method: 'POST', body });
      expect(anonymous.status).toBe(401);
    });
  });
}
