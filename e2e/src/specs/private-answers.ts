import { describe, expect, test } from '@jest/globals';
import { Agent, interceptors, request } from 'undici';
import { obtainToken } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

/** The sample upstream lets anyone cache its answers, and speaks for its host. Behind the gateway neither holds. */
export function privateAnswers(stack: () => Stack): void {
  describe('answers', () => {
    const search = new URLSearchParams({ query: '{ country(code: "SE") { name } }' });

    test('a shared cache in front of the gateway stores none: each call is counted, and needs its token', async () => {
      const { demo } = stack();
      const sharedCache = new Agent().compose(interceptors.cache({ type: 'shared' }));
      const call = async (headers: Record<string, string>) => {
        const url = `${demo.streaming_url}/graphql?${String(search)}`;
        const {
          statusCode,
          headers: fields,
          body,
        } = await request(url, { dispatcher: sharedCache, headers });
        await body.dump();
        return { statusCode, fields };
      };
      const authorization = `Bearer ${await obtainToken(demo, demo.application)}`;
      const first = await call({ authorization, accept: 'application/json' });
      expect([first.statusCode, first.fields['cache-control']]).toEqual([200, 'private, max-age=60']);
      const second = await call({ authorization, accept: 'application/json' });
      expect(second.statusCode).toBe(200);
      expect(second.fields['x-request-id']).not.toBe(first.fields['x-request-id']);
      const withoutToken = await call({ accept: 'application/json' });
      expect([withoutToken.statusCode, withoutToken.fields['cache-control']]).toEqual([401, 'no-store']);
      await sharedCache.close();
    });

    test('none speaks for the whole origin', async () => {
      const { demo } = stack();
      const { headers, status } = await fetch(`${demo.streaming_url}/graphql?${String(search)}`, {
        headers: {
          authorization: `Bearer ${await obtainToken(demo, demo.application)}`,
          accept: 'application/json',
        },
      });
      expect(status).toBe(200);
      for (const name of ['strict-transport-security', 'origin-agent-cluster', 'set-cookie']) {
        expect(headers.get(name)).toBeNull();
      }
    });
  });
}
