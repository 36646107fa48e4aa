import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import { Registry } from 'prom-client';
import { probes } from './health.ts';
import { Refusal } from './refusal.ts';

let server: Server | undefined;

afterEach(() => {
  server?.close();
});

async function serve(check: () => Promise<unknown>, draining = false): Promise<string> {
  const registry = new Registry();
  const app = express();
  app.use(probes({ checks: { store: check }, registry, draining: () => draining }));
  server = createServer(app).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
}

async function ready(base: string): Promise<[number, unknown]> {
  const response = await fetch(`${base}/health/ready`);
  return [response.status, await response.json()];
}

test('ready while every dependency answers', async () => {
  expect(await ready(await serve(() => Promise.resolve()))).toEqual([
    200,
    { status: 'ready', checks: { store: 'ok' } },
  ]);
});

test('unavailable, but live, when a dependency refuses', async () => {
  const base = await serve(() => Promise.reject(new Error('connect refused at 10.0.0.1')));
  expect(await ready(base)).toEqual([503, { status: 'unavailable', checks: { store: 'unreachable' } }]);
  expect((await fetch(`${base}/health/live`)).status).toBe(200);
});

test('unavailable for the reason that a check gives', async () => {
  const base = await serve(() => Promise.reject(new Refusal('The store is too new.')));
  expect(await ready(base)).toEqual([
    503,
    { status: 'unavailable', checks: { store: 'The store is too new.' } },
  ]);
});

test('unavailable when a dependency never answers', async () => {
  const base = await serve(() => new Promise(() => undefined));
  expect(await ready(base)).toEqual([503, { status: 'unavailable', checks: { store: 'unreachable' } }]);
});

test('draining once a shutdown has begun', async () => {
  expect(await ready(await serve(() => Promise.resolve(), true))).toEqual([
    503,
    { status: 'draining', checks: { store: 'ok' } },
  ]);
});
