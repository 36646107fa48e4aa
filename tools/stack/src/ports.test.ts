import { expect, test } from '@jest/globals';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { freePort, isPortTaken } from './ports.ts';

test.each(['127.0.0.1', '0.0.0.0', '::'])(
  'a listener on %s takes its port, until it closes',
  async (host) => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen({ host, port: 0 }, resolve));
    const { port } = server.address() as AddressInfo;
    expect(await isPortTaken(port)).toBe(true);
    await new Promise((resolve) => server.close(resolve));
    expect(await isPortTaken(port)).toBe(false);
  },
);

test('a free port is free', async () => {
  expect(await isPortTaken(await freePort())).toBe(false);
});
