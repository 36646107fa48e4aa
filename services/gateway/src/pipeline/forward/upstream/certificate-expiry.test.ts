import { once } from 'node:events';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { waitFor } from '@tollgate/stack/wait-for';
import { createCertificateAuthority } from '@tollgate/testbed/certificates';
import type { CertificateAuthority, ServerCertificate } from '@tollgate/testbed/certificates';
import { answerOk, startGateway } from '../../../../test/suite/gateway.ts';
import type { GatewayUnderTest } from '../../../../test/suite/gateway.ts';

const METRIC = 'tollgate_tls_certificate_expiry_timestamp_seconds';

let authority: CertificateAuthority;
let gateway: GatewayUnderTest;
let upstream: Server | undefined;

beforeAll(() => {
  authority = createCertificateAuthority();
});

afterEach(async () => {
  await gateway.stop();
  upstream?.close();
  upstream?.closeAllConnections();
});

afterAll(() => {
  authority.remove();
});

/** A gateway before an upstream with this certificate; returns the upstream's origin. */
async function startBefore(
  certificate: ServerCertificate,
  env: Record<string, string> = {},
): Promise<string> {
  upstream = createServer(certificate, answerOk).listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const origin = `https://127.0.0.1:${String((upstream.address() as AddressInfo).port)}`;
  gateway = await startGateway({ env: { UPSTREAM_URL: `${origin}/graphql`, ...env } });
  return origin;
}

const trusted = () => ({ NODE_EXTRA_CA_CERTS: authority.file });

test('the expiry of the upstream’s certificate is served once a call has gone there', async () => {
  const certificate = authority.issue(5);
  const origin = await startBefore(certificate, trusted());
  expect(await gateway.metric(METRIC)).toBe(0);
  expect((await gateway.query()).status).toBe(200);
  expect(await gateway.metric(METRIC, { peer: 'upstream', address: origin })).toBe(certificate.expiresAtSec);
});

test('a renewed certificate is seen when connections are replaced', async () => {
  const renewed = authority.issue(9);
  await startBefore(authority.issue(2), { ...trusted(), CONNECTION_MAX_AGE_MS: '1000' });
  expect((await gateway.query()).status).toBe(200);
  upstream?.setSecureContext(renewed);
  const statuses = new Set<number>();
  await waitFor(
    async () => {
      statuses.add((await gateway.query()).status);
      return (await gateway.metric(METRIC)) === renewed.expiresAtSec;
    },
    { what: 'the renewed certificate' },
  );
  expect([...statuses]).toEqual([200]);
});

test('an upstream without TLS, or whose certificate is refused, has no sample', async () => {
  gateway = await startGateway();
  expect((await gateway.query()).status).toBe(200);
  expect(await gateway.metric(METRIC)).toBe(0);
  await gateway.stop();
  await startBefore(authority.issue(5));
  expect((await gateway.query()).status).toBe(502);
  expect(await gateway.metric(METRIC)).toBe(0);
});
