import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { LONG_BEFORE_EXPIRY_MS, eventually, postGraphql } from '../caller.ts';
import { operate } from '../operate.ts';
import type { Stack } from '../stack/stack.ts';

const QUERY = '{ country(code: "CH") { name } }';
const RECOVERY_MS = 15_000;

type Token = { token_id: number; access_token: string };

/** Tokens that a person makes by hand, as an operator makes them until the web interface does. */
export function manualTokens(stack: () => Stack): void {
  describe('manual tokens', () => {
    let path: string;

    const make = () => operate<Token>(stack().demo, 'POST', `${path}/tokens`, { name: 'By hand' });
    const statusOf = async (token: string) => {
      const response = await postGraphql(stack().demo, token, QUERY);
      await response.arrayBuffer();
      return response.status;
    };
    const becomes = (token: string, status: number, timeoutMs: number) =>
      eventually(
        () => statusOf(token),
        (answer) => answer === status,
        timeoutMs,
      );

    beforeAll(async () => {
      const { application_id } = await operate<{ application_id: number }>(
        stack().demo,
        'POST',
        '/private/applications',
        {
          account_id: stack().demo.account_id,
          name: 'By hand',
          type: 'manual',
          token_lifespan_sec: 31_536_000,
        },
      );
      path = `/private/applications/${String(application_id)}`;
    });

    afterAll(async () => {
      await operate(stack().demo, 'DELETE', path);
    });

    test('one works at the gateway at once, is copied, and is refused after its revocation', async () => {
      const { token_id, access_token } = await make();
      const other = await make();
      expect(await statusOf(access_token)).toBe(200);
      const token = `${path}/tokens/${String(token_id)}`;
      expect(await operate(stack().demo, 'POST', `${token}/copy`)).toMatchObject({ access_token });
      await operate(stack().demo, 'POST', `${token}/revoke`);
      await becomes(access_token, 401, LONG_BEFORE_EXPIRY_MS);
      expect(await statusOf(other.access_token)).toBe(200);
    });

    test('the temporary token of an account works, and stays the same', async () => {
      const temporary = `/private/accounts/${String(stack().demo.account_id)}/temporary-token`;
      const first = await operate<Token>(stack().demo, 'POST', temporary);
      expect(await operate(stack().demo, 'POST', temporary)).toEqual(first);
      expect(await statusOf(first.access_token)).toBe(200);
    });

    test('a Redis that loses all that auth keeps in it loses none, and brings no revoked one back', async () => {
      const [token, revoked] = [await make(), await make()];
      expect([await statusOf(token.access_token), await statusOf(revoked.access_token)]).toEqual([200, 200]);
      await operate(stack().demo, 'POST', `${path}/tokens/${String(revoked.token_id)}/revoke`);
      await stack().forgetTokens();
      const seen = new Set<number>();
      await eventually(
        async () => {
          const status = await statusOf(token.access_token);
          seen.add(status);
          return status;
        },
        (status) => status === 200,
        RECOVERY_MS,
      );
      expect([...seen].filter((status) => status !== 200 && status !== 503)).toEqual([]);
      await becomes(revoked.access_token, 401, RECOVERY_MS);
    });
  });
}
