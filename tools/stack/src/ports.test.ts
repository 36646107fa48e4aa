import { expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { claimPort, freePort, isPortTaken } from './ports.ts';

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

test('a port that was given is given to no other process while this one runs, and to others afterwards', async () => {
  const claims = async (port: number) => {
    const program = `import { claimPort } from ${JSON.stringify(import.meta.resolve('./ports.ts'))};
      console.log(claimPort(${String(port)}), claimPort(${String(port)}));`;
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--input-type=module',
      '--eval',
      program,
    ]);
    return stdout.trim();
  };
  const port = await freePort();
  expect(await claims(port)).toBe('false false');
  const other = await freePort();
  expect(claimPort(other)).toBe(false);
  // Below freePort's range, so that no suite has it. The first process has ended when the second asks.
  expect(await claims(10_239)).toBe('true false');
  expect(await claims(10_239)).toBe('true false');
});
