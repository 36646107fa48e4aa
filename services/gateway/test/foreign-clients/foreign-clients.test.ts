import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startSampleUpstream } from '@tollgate/testbed/sample-upstream';
import type { SampleUpstream } from '@tollgate/testbed/sample-upstream';
import { startRealServices } from '../suite/real-services.ts';
import type { RealServices } from '../suite/real-services.ts';
import { HTTP_CLIENTS } from './http-clients.ts';
import { SUBSCRIPTION_CLIENTS, subscriptionErrorCode } from './subscription-clients.ts';

let upstream: SampleUpstream;
let services: RealServices;
let url: string;
const tokens = new Map<string, string>();

/** A limit of 0 allows nothing. */
const CUSTOMERS = {
  good: { points_limit: 1_000_000, rate_limit: 100_000, session_limit: 10, subscription_limit: 10 },
  points_limit_exceeded: { points_limit: 0 },
  rate_limit_exceeded: { rate_limit: 0 },
  session_limit_exceeded: { session_limit: 0 },
  subscription_limit_exceeded: { subscription_limit: 0 },
};

beforeAll(async () => {
  upstream = await startSampleUpstream();
  services = await startRealServices({
    gatewayEnv: { UPSTREAM_URL: upstream.url, UPSTREAM_WS_URL: upstream.url.replace('http', 'ws') },
  });
  url = `${services.gateways[0].publicUrl}/graphql`;
  for (const [name, description] of Object.entries(CUSTOMERS)) {
    tokens.set(name, (await services.newCustomer(description)).token);
  }
});

afterAll(async () => {
  await services.stop();
  await upstream.stop();
});

/** The customer's token, or an invalid one for any other name. */
const tokenOf = (name: string) => tokens.get(name) ?? 'no-token';

const failure = (outcome: Promise<unknown>): Promise<unknown> =>
  outcome.then(
    () => 'none',
    (error: unknown) => error,
  );

describe.each(HTTP_CLIENTS)('$name', ({ query, codeOf }) => {
  test('queries', async () => {
    const answer = await query(url, tokenOf('good'), '{ country(code: "JP") { name } }');
    expect(answer).toMatchObject({ country: { name: 'Japan' } });
  });

  test.each(['unauthorized', 'points_limit_exceeded', 'rate_limit_exceeded', 'session_limit_exceeded'])(
    'reads a refusal as a GraphQL error: %s',
    async (code) => {
      expect(codeOf(await failure(query(url, tokenOf(code), '{ country(code: "JP") { name } }')))).toBe(code);
    },
  );
});

const THREE = 'subscription { countryOfTheMoment(intervalMs: 100, times: 3) { code } }';

describe.each(SUBSCRIPTION_CLIENTS)('$name', ({ name, subscribe }) => {
  test('subscribes until the end', async () => {
    const seen = await subscribe(url, tokenOf('good'), THREE);
    expect(seen).toHaveLength(3);
    for (const one of seen) {
      expect(one).toMatchObject({ countryOfTheMoment: { code: expect.stringMatching(/^[A-Z]{2}$/) } });
    }
  });

  test.each(['points_limit_exceeded', 'rate_limit_exceeded', 'subscription_limit_exceeded'])(
    'reads a refusal as a GraphQL error: %s',
    async (code) => {
      expect(subscriptionErrorCode(await failure(subscribe(url, tokenOf(code), THREE)))).toBe(code);
    },
  );

  test('is told of a token that is not good', async () => {
    const error = await failure(subscribe(url, tokenOf('unauthorized'), THREE));
    if (name.endsWith('events')) expect(subscriptionErrorCode(error)).toBe('unauthorized');
    // Over a WebSocket only the close code says why, and not every client exposes it.
    else expect(error).not.toBe('none');
  });
});
