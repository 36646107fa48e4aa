import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';

/** A proxy to Postgres that passes no startup options on, as PgBouncer does with `ignore_startup_parameters = options`. */
export type ForgetfulPooler = {
  url: string;
  /** Until then, options are passed on. */
  forget: () => void;
  close: () => Promise<void>;
};

export async function startForgetfulPooler(targetUrl: string): Promise<ForgetfulPooler> {
  const target = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let forgets = false;
  const server = createServer((client) => {
    const postgres = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, postgres],
      [postgres, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
    }
    client.once('data', (startup: Buffer) => {
      postgres.write(forgets ? withoutOptions(startup) : startup);
      client.pipe(postgres);
      postgres.pipe(client);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(targetUrl);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    forget: () => {
      forgets = true;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A StartupMessage: its length, the protocol's version, then names and values, each ended by a zero byte. */
function withoutOptions(startup: Buffer): Buffer {
  const parameters = startup.subarray(8).toString('utf8').split('\0');
  const at = parameters.findIndex((name, index) => index % 2 === 0 && name === 'options');
  if (at >= 0) parameters.splice(at, 2);
  const kept = Buffer.from(parameters.join('\0'));
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeInt32BE(head.length + kept.length);
  return Buffer.concat([head, kept]);
}
