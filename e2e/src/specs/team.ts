import { describe, expect, test } from '@jest/globals';
import { eventually, obtainToken, postGraphql, readUsage, settledUsage } from '../caller.ts';
import type { Stack } from '../stack/stack.ts';

/** The first rule of GET /api/usage: a member's billing period is the team manager's. */
export function team(stack: () => Stack): void {
  describe('a team member', () => {
    test('sees the manager as payer, and the manager’s period', async () => {
      const { demo } = stack();
      const managers = await settledUsage(demo, await obtainToken(demo, demo.application));
      const members = await readUsage(demo, await obtainToken(demo, demo.member));
      expect(members).toEqual({ ...managers, account_id: demo.member.account_id, payer_id: demo.account_id });
    });

    test('raises the manager’s counters with a call', async () => {
      const { demo } = stack();
      const manager = await obtainToken(demo, demo.application);
      const { usage } = (await settledUsage(demo, manager)).billing_period;
      const response = await postGraphql(
        demo,
        await obtainToken(demo, demo.member),
        '{ continents { name } }',
      );
      expect(response.status).toBe(200);
      await response.text();
      await eventually(
        async () => (await readUsage(demo, manager)).billing_period.usage.requests_usage,
        (requests) => requests === usage.requests_usage + 1,
        1_000,
      );
    });
  });
}
