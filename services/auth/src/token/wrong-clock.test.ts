import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { accessTokenHash, applicationPart } from '@tollgate/credentials/access-token';
import { introspectionSchema } from '@tollgate/contracts/introspection';
import { clockAhead } from '@tollgate/testbed/clock-ahead';
import { waitFor } from '@tollgate/stack/wait-for';
import { addClient, addManualToken, startAuth } from '../../test/suite/auth-under-test.ts';
import type { AuthUnderTest } from '../../test/suite/auth-under-test.ts';
import { obtainToken, postIntrospection } from '../../test/suite/requests.ts';
import { tokenKey } from '../redis/keys.ts';

const HOUR_SEC = 3_600;

describe.each([
  ['an hour behind', -HOUR_SEC],
  ['25 hours ahead', 25 * HOUR_SEC],
])('an auth whose clock is %s', (_name, aheadSec) => {
  let auth: AuthUnderTest;

  beforeAll(async () => {
    auth = await startAuth(clockAhead(aheadSec * 1_000));
  });

  afterAll(() => auth.close());

  async function introspected(token: string) {
    return introspectionSchema.parse(await (await postIntrospection(auth.service, { token })).json());
  }

  test('issues tokens that live as long as they should, by Redis’ clock', async () => {
    const client = addClient(auth.account, { token_lifespan_sec: 60 });
    const token = await obtainToken(auth.service, client);
    const answer = await introspected(token);
    if (!answer.active) throw new Error('the token is not active');
    expect(answer.exp - answer.iat).toBe(60);
    expect(Math.abs(answer.iat - Date.now() / 1_000)).toBeLessThan(10);
    expect(answer.expires_in_ms).toBeLessThanOrEqual(60_000);
    expect(answer.expires_in_ms).toBeGreaterThan(50_000);
    const key = tokenKey(accessTokenHash(token), applicationPart(client.client_id));
    expect(await auth.store.expiretime(key)).toBe(answer.exp);
  });

  test('knows a manual token until its end, and not beyond', async () => {
    const client = addClient(auth.account);
    const token = addManualToken(auth.account, client, 3);
    expect((await introspected(token)).active).toBe(true);
    await waitFor(async () => !(await introspected(token)).active);
  });

  test('says how far its clock is off', async () => {
    await waitFor(async () => {
      const metrics = await (await fetch(`${auth.service.privateUrl}/metrics`)).text();
      const skewSec = Number(/^tollgate_clock_skew_seconds\{.*\} (\S+)$/m.exec(metrics)?.[1]);
      return Math.abs(skewSec - aheadSec) < 1;
    });
    expect(auth.service.logs().split('this clock is off')).toHaveLength(2);
  });
});
