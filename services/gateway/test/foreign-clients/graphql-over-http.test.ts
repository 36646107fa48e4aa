import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serverAudits } from 'graphql-http';
import { startSampleUpstream } from '@tollgate/testbed/sample-upstream';
import type { SampleUpstream } from '@tollgate/testbed/sample-upstream';
import { startGateway } from '../suite/gateway.ts';
import type { GatewayUnderTest } from '../suite/gateway.ts';

/** The audits of GraphQL over HTTP's reference implementation; the sample upstream alone passes all of them. */
const AUDITS = serverAudits({ url: '' }).map(({ id, name }) => ({ id, name }));

let upstream: SampleUpstream;
let gateway: GatewayUnderTest;
let byId: Map<string, ReturnType<typeof serverAudits>[number]>;

beforeAll(async () => {
  upstream = await startSampleUpstream();
  gateway = await startGateway({ env: { UPSTREAM_URL: upstream.url } });
  const authorization = `Bearer ${gateway.auth.issue()}`;
  const audits = serverAudits({
    url: gateway.graphqlUrl,
    fetchFn: (url: string, init: RequestInit = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', authorization);
      return fetch(url, { ...init, headers });
    },
  });
  byId = new Map(audits.map((audit) => [audit.id, audit]));
});

afterAll(async () => {
  await gateway.stop();
  await upstream.stop();
});

describe('GraphQL over HTTP', () => {
  test('has the audits that were counted when this was written', () => {
    const counts = Object.groupBy(AUDITS, ({ name }) => name.split(' ')[0] ?? '');
    expect([counts['MUST']?.length, counts['SHOULD']?.length, counts['MAY']?.length]).toEqual([13, 23, 25]);
  });

  test.each(AUDITS)('$id $name', async ({ id }) => {
    const result = await byId.get(id)?.fn();
    expect({
      status: result?.status,
      reason: result !== undefined && 'reason' in result ? result.reason : null,
    }).toEqual({
      status: 'ok',
      reason: null,
    });
  });
});
