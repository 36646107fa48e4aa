import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { startCollector } from '../../test/suite/collector.ts';
import type { CollectedSpan, Collector } from '../../test/suite/collector.ts';
import { startRealServices } from '../../test/suite/real-services.ts';
import type { Customer, RealServices } from '../../test/suite/real-services.ts';
import { answerOk } from '../../test/suite/gateway.ts';
import { startServer } from '../../test/suite/upstreams/server.ts';

let collector: Collector;
let services: RealServices;
let customer: Customer;
let blocked: Customer;
let upstream: Awaited<ReturnType<typeof startServer>>;

beforeAll(async () => {
  collector = await startCollector();
  upstream = await startServer(answerOk);
  const env = {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    LOG_LEVEL: 'debug',
    OTEL_TRACES_SAMPLER: 'always_on',
  };
  services = await startRealServices({
    gatewayEnv: { ...env, UPSTREAM_URL: `${upstream.url}/graphql` },
    commonEnv: env,
  });
  customer = await services.newCustomer({});
  blocked = await services.newCustomer({ points_limit: 0 });
});

afterAll(async () => {
  await services.stop();
  await Promise.all([upstream.close(), collector.goAway()]);
});

function call({ token }: Customer): Promise<Response> {
  return fetch(`${services.gateways[0].publicUrl}/graphql?token=secretInQuery`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"query":"{ secretField }"}',
  });
}

/** The lines of a service's log that have a request's id. */
function linesOf(service: { logs: () => string }, requestId: string): Record<string, unknown>[] {
  return service
    .logs()
    .split('\n')
    .filter((line) => line.includes(requestId))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

test("a refusal's request id finds the lines of all services, with the id of the trace", async () => {
  const refused = await call(blocked);
  expect(refused.status).toBe(402);
  const { errors } = (await refused.json()) as { errors: [{ extensions: { request_id: string } }] };
  const requestId = errors[0].extensions.request_id;
  expect(refused.headers.get('x-request-id')).toBe(requestId);
  const [gateway] = services.gateways;
  // A line is written after its response.
  for (const service of [gateway, services.auth, services.account]) {
    await waitFor(() => linesOf(service, requestId).length > 0, { what: 'a line with the request id' });
  }
  expect(linesOf(gateway, requestId)).toContainEqual(
    expect.objectContaining({ msg: 'data call', outcome: 'points_limit_exceeded' }),
  );
  for (const service of [services.auth, services.account]) {
    const lines = linesOf(service, requestId);
    for (const line of lines) expect(line).toMatchObject({ request_id: requestId, trace_id: requestId });
  }
});

test('one trace shows a call in three services, with what they asked of Redis and Postgres', async () => {
  const answer = await call(customer);
  expect(answer.status).toBe(200);
  const traceId = String(answer.headers.get('x-request-id'));
  // Their ends send what is recorded.
  await Promise.all([...services.gateways, services.auth, services.account].map((service) => service.stop()));
  const spans = collector.spansOf(traceId);
  const named = (name: string) => spans.filter((span) => span.name === name);
  const below = ({ spanId }: CollectedSpan) =>
    spans.filter(({ parentSpanId }) => parentSpanId === spanId).map(({ name }) => name);
  const [gateway] = named('POST /graphql');
  const [introspection] = named('POST /oauth2/introspect');
  const [entitlement] = named('GET /private/entitlements/:account_id');
  const [authenticate] = named('authenticate');
  const [entitle] = named('entitle');
  expect(introspection?.parentSpanId).toBe(authenticate?.spanId);
  expect(authenticate?.parentSpanId).toBe(gateway?.spanId);
  expect(entitlement?.parentSpanId).toBe(entitle?.spanId);
  if (introspection === undefined || entitlement === undefined) throw new Error('a span is missing');
  expect(below(introspection)).toContain('redis EVALSHA');
  expect(below(entitlement)).toContain('postgresql SELECT');
  for (const { attributes } of spans.filter(({ kind, name }) => kind === 3 && name.startsWith('redis'))) {
    expect(attributes).toEqual({ 'db.system.name': 'redis', 'db.operation.name': expect.any(String) });
  }
  const everything = collector.everything();
  for (const secret of [customer.token, 'secretField', 'secretInQuery', 'FROM ']) {
    expect(everything).not.toContain(secret);
  }
});
