import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newClientSecret } from '@tollgate/credentials/client-secret';
import { addClient, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../test/suite/auth-under-test.ts';
import { postToken, tokenForm } from '../../test/suite/requests.ts';

const PER_PAIR = 3;

let auth: AuthUnderTest;

beforeAll(async () => {
  auth = await startAuth({
    TRUSTED_PROXIES: '127.0.0.0/8 ::1/128',
    FAILED_ATTEMPTS_PER_CLIENT_AND_ADDRESS: String(PER_PAIR),
  });
});

afterAll(() => auth.close());

test.each([
  ['a port, as Azure writes it', 'x-forwarded-for', (port: number) => `198.51.100.1:${String(port)}`],
  ['brackets and a port', 'x-forwarded-for', (port: number) => `[2001:db8:1::7]:${String(port)}`],
  ['quotes', 'x-forwarded-for', (port: number) => `"198.51.100.2:${String(port)}"`],
  ['IPv6’s form', 'x-forwarded-for', (port: number) => `[::ffff:198.51.100.3]:${String(port)}`],
  ['a zone', 'x-forwarded-for', (port: number) => `fe80:9::1%eth${String(port)}`],
  ['Forwarded', 'forwarded', (port: number) => `proto=https;For="198.51.100.4:${String(port)}"`],
  ['Forwarded and IPv6', 'forwarded', (port: number) => `for="[2001:db8:2::7]:${String(port)}"`],
  ['what is no address', 'x-forwarded-for', (port: number) => `caller-${String(port)}`],
  ['what is no Forwarded', 'forwarded', (port: number) => `for="${String(port)}`],
])('failures are counted by address, also where a proxy writes it with %s', async (_form, name, from) => {
  const { client_id } = addClient(auth.account);
  const statuses = [];
  for (let port = 50_001; port <= 50_001 + PER_PAIR; port += 1) {
    const wrong = tokenForm({ client_id, client_secret: newClientSecret() });
    statuses.push((await postToken(auth.service, wrong, { [name]: from(port) })).status);
  }
  expect(statuses).toEqual([401, 401, 401, 429]);
});
