import { describe, expect, test } from '@jest/globals';
import {
  COUNTING_TIME_LIMIT_MS,
  eventually,
  getUsage,
  obtainToken,
  postGraphql,
  postToken,
  readUsage,
  settledUsage,
  tokenFields,
} from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

const QUERY = '{ country(code: "CH") { name capital languages { name } } }';

/** The main job: a token, a call, and the call in the usage. */
export function meteredCall(stack: () => Stack): void {
  describe('a metered call', () => {
    test('the token request of section 4.1 gets a bearer token', async () => {
      const { demo } = stack();
      const response = await postToken(demo.auth_url, tokenFields(demo.application));
      expect(response.status).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(await response.json()).toEqual({
        access_token: expect.stringMatching(/^tg_[0-9A-Za-z]{22}_[0-9A-Za-z]{49}$/),
        expires_in: expect.any(Number),
        scope: 'api',
        token_type: 'bearer',
      });
    });

    test('a call is answered by the data API and in the usage', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      const before = await settledUsage(demo, token);
      const response = await postGraphql(demo, token, QUERY);
      const body = await response.text();
      expect(response.status).toBe(200);
      expect(JSON.parse(body)).toMatchObject({ data: { country: { name: 'Switzerland', capital: 'Bern' } } });
      const points = Number(response.headers.get('x-points-cost'));
      expect(points).toBeGreaterThan(0);
      const { limits, usage } = before.billing_period;
      expect(response.headers.get('x-points-remaining')).toBe(
        String(limits.points_limit - usage.points_usage - points),
      );
      expect(response.headers.get('ratelimit-policy')).toBe(`"rate";q=${String(limits.rate_limit)};w=60`);
      expect(response.headers.get('ratelimit')).toMatch(/^"rate";r=\d+;t=\d+$/);
      expect(response.headers.get('x-billing-status')).toBe('active');
      const after = await eventually(
        () => readUsage(demo, token),
        ({ billing_period: { usage } }) => usage.requests_usage > before.billing_period.usage.requests_usage,
        COUNTING_TIME_LIMIT_MS,
      );
      expect(after).toEqual({
        ...before,
        billing_period: {
          ...before.billing_period,
          usage: {
            ...before.billing_period.usage,
            requests_usage: before.billing_period.usage.requests_usage + 1,
            points_usage: before.billing_period.usage.points_usage + points,
            traffic_bytes_usage: before.billing_period.usage.traffic_bytes_usage + Buffer.byteLength(body),
          },
        },
      });
    });

    test('the usage answer has the fields of the source specification, in its form', async () => {
      const { demo } = stack();
      const usage = await readUsage(demo, await obtainToken(demo, demo.application));
      expect(usage).toMatchObject({
        account_id: demo.account_id,
        payer_id: demo.account_id,
        status: 'active',
      });
      expect(Object.keys(usage)).toEqual(['account_id', 'payer_id', 'status', 'billing_period']);
      expect(Object.keys(usage.billing_period)).toEqual([
        'started_at',
        'ended_at',
        'plan_name',
        'product',
        'limits',
        'usage',
        'description',
      ]);
      expect(usage.billing_period.limits).toMatchObject({ time_sec_limit: 0, traffic_bytes_limit: 0 });
      expect(usage.billing_period.description).not.toHaveProperty('time_sec_limit');
    });

    test('the gateway is a door to the token and usage endpoints too', async () => {
      const { demo } = stack();
      const granted = await postToken(demo.streaming_url, tokenFields(demo.application));
      expect(granted.status).toBe(200);
      const { access_token } = (await granted.json()) as { access_token: string };
      const usage = await getUsage(demo.streaming_url, access_token);
      expect(usage.status).toBe(200);
      expect(await usage.json()).toMatchObject({ account_id: demo.account_id });
    });
  });
}
