import { describe, expect, test } from '@jest/globals';
import type { LiveToken } from '@tollgate/introspection';
import { Problem } from '@tollgate/http/problem';
import { activeToken } from '@tollgate/testbed/active-token';
import { authenticateBearer } from './bearer.ts';

const TOKEN: LiveToken = { ...activeToken(), expiresAtMs: Infinity };

type Introspect = Parameters<typeof authenticateBearer>[0];

const answering =
  (answer: LiveToken | null): Introspect =>
  () =>
    Promise.resolve(answer);

async function refusal(introspect: Introspect, authorization?: string): Promise<Problem> {
  const headers = authorization === undefined ? {} : { authorization };
  try {
    await authenticateBearer(introspect, { headers }, 'request-1');
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('it was not refused');
}

describe('a bearer token', () => {
  test.each(['Bearer good.token', 'bearer good.token', 'BEARER   good.token  '])(
    'passes in the Authorization header: %p',
    async (authorization) => {
      const seen: unknown[] = [];
      const introspect: Introspect = (...asked) => {
        seen.push(asked);
        return Promise.resolve(TOKEN);
      };
      expect(await authenticateBearer(introspect, { headers: { authorization } }, 'request-1')).toBe(TOKEN);
      expect(seen).toEqual([['good.token', 'request-1']]);
    },
  );

  test.each([undefined, '', 'Basic YTpi', 'Token abc', 'Bearertoken', 'Bearer,'])(
    '%p is no bearer token: 401 with the bare challenge',
    async (authorization) => {
      const problem = await refusal(answering(TOKEN), authorization);
      expect([problem.status, problem.title]).toEqual([401, 'Unauthorized']);
      expect(problem.headers['www-authenticate']).toBe('Bearer realm="tollgate"');
    },
  );

  test.each(['Bearer', 'Bearer ', 'Bearer a b', 'Bearer a,b', 'Bearer \u00e4', `Bearer ${'a'.repeat(600)}`])(
    '%p is malformed: 401 invalid_token, and nobody is asked',
    async (authorization) => {
      const asked: Introspect = () => Promise.reject(new Error('asked'));
      const problem = await refusal(asked, authorization);
      expect(problem.status).toBe(401);
      expect(problem.headers['www-authenticate']).toBe('Bearer realm="tollgate", error="invalid_token"');
    },
  );

  test('that is inactive is 401 invalid_token', async () => {
    const problem = await refusal(answering(null), 'Bearer dead');
    expect(problem.status).toBe(401);
    expect(problem.headers['www-authenticate']).toContain('error="invalid_token"');
  });

  test.each(['', 'other', 'apis other'])('of scope %p is 403 insufficient_scope', async (scope) => {
    const problem = await refusal(answering({ ...TOKEN, scope }), 'Bearer narrow');
    expect(problem.status).toBe(403);
    expect(problem.headers['www-authenticate']).toBe(
      'Bearer realm="tollgate", error="insufficient_scope", scope="api"',
    );
  });

  test('that nobody can judge is 503 with a time to come back, not 401', async () => {
    const problem = await refusal(() => Promise.reject(new Problem('service_unavailable')), 'Bearer good');
    expect(problem.status).toBe(503);
    expect(problem.headers['retry-after']).toBeDefined();
  });
});
