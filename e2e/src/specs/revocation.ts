import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import {
  LONG_BEFORE_EXPIRY_MS,
  eventually,
  obtainToken,
  postGraphql,
  postToken,
  tokenFields,
} from '../caller.ts';
import { operate as request } from '../operate.ts';
import type { Demo, DemoApplication, Stack } from '../stack/stack.ts';

const QUERY = '{ country(code: "CH") { name } }';

/** After auth's or Redis' restart: account comes back within a second at most, auth connects anew. */
const RECOVERY_MS = 10_000;

type Revoked = { status: string; revocation_epoch: number; delivered: boolean };

/** An open subscription, and how its socket is closed. */
async function openSocket(
  { streaming_url }: Pick<Demo, 'streaming_url'>,
  token: string,
): Promise<{ closed: Promise<{ code: number; atMs: number }> }> {
  const socket = new WebSocket(`${streaming_url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws', {
    headers: { authorization: `Bearer ${token}` },
  });
  const closed = new Promise<{ code: number; atMs: number }>((resolve) => {
    socket.once('close', (code) => {
      resolve({ code, atMs: performance.now() });
    });
  });
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'connection_init' }));
  await once(socket, 'message');
  const query = 'subscription { countryOfTheMoment(intervalMs: 200, times: 1000) { name } }';
  socket.send(JSON.stringify({ type: 'subscribe', id: 'a', payload: { query } }));
  await once(socket, 'message');
  socket.on('error', () => undefined);
  return { closed };
}

/**
 * Application-wide revocation, by the operator API of account. `outages: 'redis'` leaves out parts that keep nothing of
 * a revocation: what happens while they are away depends on the code alone.
 */
export function revocation(
  stack: () => Stack,
  { outages }: { outages: 'every part' | 'redis' } = { outages: 'every part' },
): void {
  describe('a revoked application', () => {
    let application: DemoApplication;

    const operate = <T>(method: string, suffix: string, body?: unknown) =>
      request<T>(stack().demo, method, `/private/applications${suffix}`, body);

    const path = () => `/${String(application.application_id)}`;
    const revoke = () => operate<Revoked>('POST', `${path()}/revoke`);
    /** A new secret, which also revives the application. */
    const rotate = async () => {
      application = await operate<DemoApplication>('POST', `${path()}/rotate-secret`, { overlap_sec: 0 });
    };
    const statusOf = async (token: string) => {
      const response = await postGraphql(stack().demo, token, QUERY);
      await response.arrayBuffer();
      return response.status;
    };
    const dies = (token: string, timeoutMs: number) =>
      eventually(
        () => statusOf(token),
        (status) => status === 401,
        timeoutMs,
      );

    beforeAll(async () => {
      application = await operate<DemoApplication>('POST', '', {
        account_id: stack().demo.account_id,
        name: 'Revocation',
        type: 'automatic',
        token_lifespan_sec: 3_600,
      });
    });

    afterAll(async () => {
      await operate('DELETE', path());
    });

    test('is refused at the gateway, its cached token too, and gets no new one', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, application);
      expect([await statusOf(token), await statusOf(token)]).toEqual([200, 200]);
      const started = performance.now();
      expect(await revoke()).toMatchObject({ status: 'revoked', revocation_epoch: 1, delivered: true });
      await dies(token, LONG_BEFORE_EXPIRY_MS);
      console.info(
        `refused ${(performance.now() - started).toFixed(0)} ms after the revocation was asked for`,
      );
      const grant = await postToken(demo.auth_url, tokenFields(application));
      expect([grant.status, await grant.json()]).toMatchObject([401, { error: 'invalid_client' }]);
    });

    test('comes back with a new secret, without its old tokens and secrets', async () => {
      const { demo } = stack();
      await rotate();
      const old = await obtainToken(demo, application);
      expect(await statusOf(old)).toBe(200);
      await revoke();
      await dies(old, LONG_BEFORE_EXPIRY_MS);
      const before = application;
      await rotate();
      const token = await obtainToken(demo, application);
      expect([await statusOf(token), await statusOf(old)]).toEqual([200, 401]);
      expect((await postToken(demo.auth_url, tokenFields(before))).status).toBe(401);
    });

    test('stays dead through a Redis that is killed and started again', async () => {
      const { demo, kill, start } = stack();
      await rotate();
      // auth and the gateway have connections of their own, and each is back when it is.
      const whenRedisIsBack = (whose: string) =>
        eventually(
          () => statusOf(whose),
          (answer) => answer !== 503,
          RECOVERY_MS,
        );
      const token = await obtainToken(demo, application);
      expect(await whenRedisIsBack(token)).toBe(200);
      expect((await revoke()).delivered).toBe(true);
      await kill('redis');
      await start('redis');
      expect(await whenRedisIsBack(token)).toBe(401);
      await rotate();
      expect(await whenRedisIsBack(await obtainToken(demo, application))).toBe(200);
      expect(await statusOf(token)).toBe(401);
    });

    if (outages === 'redis') return;

    test('is refused at once while auth is away, its sockets too, and stays dead when auth is back', async () => {
      const { demo, kill, start } = stack();
      await rotate();
      const token = await obtainToken(demo, application);
      expect(await statusOf(token)).toBe(200);
      const socket = await openSocket(demo, token);
      await kill('auth');
      try {
        expect(await revoke()).toMatchObject({ status: 'revoked', delivered: true });
        const ackMs = performance.now();
        await dies(token, LONG_BEFORE_EXPIRY_MS);
        const { code, atMs } = await socket.closed;
        expect(code).toBe(4401);
        expect(atMs - ackMs).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
      } finally {
        await start('auth');
      }
      await dies(token, RECOVERY_MS);
      await rotate();
      const next = await obtainToken(demo, application);
      expect([await statusOf(next), await statusOf(token)]).toEqual([200, 401]);
    });

    test.each(['account', 'postgres'] as const)(
      'is refused, its sockets too, though %s is killed once the revocation is acknowledged',
      async (part) => {
        const { demo, kill, start } = stack();
        await rotate();
        const token = await obtainToken(demo, application);
        expect(await statusOf(token)).toBe(200);
        const socket = await openSocket(demo, token);
        expect((await revoke()).delivered).toBe(true);
        const ackMs = performance.now();
        await kill(part);
        try {
          const { code, atMs } = await socket.closed;
          expect(code).toBe(4401);
          expect(atMs - ackMs).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
          expect(await statusOf(token)).toBe(401);
        } finally {
          await start(part);
        }
        await eventually(
          () => fetch(`${demo.private.account_url}/health/ready`).then(({ status }) => status),
          (status) => status === 200,
          RECOVERY_MS,
        );
      },
    );

    test('loses its sockets while Redis is away, and calls are 503', async () => {
      const { demo, kill, start } = stack();
      await rotate();
      const token = await obtainToken(demo, application);
      const socket = await openSocket(demo, token);
      await kill('redis');
      try {
        expect(await revoke()).toMatchObject({ status: 'revoked', delivered: false });
        const ackMs = performance.now();
        const { code, atMs } = await socket.closed;
        expect(code).toBe(1013);
        expect(atMs - ackMs).toBeLessThan(LONG_BEFORE_EXPIRY_MS);
        expect(await statusOf(token)).toBe(503);
      } finally {
        await start('redis');
      }
      await dies(token, RECOVERY_MS);
      // The next spec begins with a stack that serves.
      const alive = await obtainToken(demo, demo.application);
      await eventually(
        () => statusOf(alive),
        (status) => status === 200,
        RECOVERY_MS,
      );
    });
  });
}
