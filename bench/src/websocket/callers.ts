import { once } from 'node:events';
import { WebSocket } from 'ws';
import { TICKS_PER_SEC } from './upstream.ts';

const OPENING_AT_ONCE = 50;

export async function openSockets(url: string, token: string, count: number): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  while (sockets.length < count) {
    const batch = Array.from({ length: Math.min(OPENING_AT_ONCE, count - sockets.length) }, () =>
      openSocket(url, token),
    );
    sockets.push(...(await Promise.all(batch)));
  }
  return sockets;
}

export async function openSocket(url: string, token: string): Promise<WebSocket> {
  const socket = new WebSocket(url.replace('http', 'ws'), 'graphql-transport-ws', {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  await once(socket, 'open');
  socket.send('{"type":"connection_init"}');
  await once(socket, 'message');
  return socket;
}

export type Relayed = { expected: number; received: number; outOfOrder: number; perSec: number };

/** Resolves when all subscriptions have ended. */
export async function subscribe(sockets: readonly WebSocket[], seconds: number): Promise<Relayed> {
  const count = TICKS_PER_SEC * seconds;
  let received = 0;
  let outOfOrder = 0;
  const startedMs = performance.now();
  await Promise.all(
    sockets.map((socket, index) => {
      const id = String(index);
      let next = 0;
      const ended = new Promise<void>((resolve, reject) => {
        socket.on('message', (text: Buffer) => {
          const message = JSON.parse(text.toString()) as Message;
          if (message.type === 'complete') resolve();
          else if (message.type === 'error')
            reject(new Error(`a subscription was refused: ${text.toString()}`));
          if (message.type !== 'next') return;
          received += 1;
          if (message.payload.data.ticks !== next) outOfOrder += 1;
          next = message.payload.data.ticks + 1;
        });
        socket.once('close', () => {
          reject(new Error('a socket was closed within its subscription'));
        });
      });
      socket.send(
        JSON.stringify({
          id,
          type: 'subscribe',
          payload: { query: 'subscription { ticks }', variables: { count } },
        }),
      );
      return ended;
    }),
  );
  const perSec = received / ((performance.now() - startedMs) / 1_000);
  return { expected: sockets.length * count, received, outOfOrder, perSec };
}

type Message = { type: string; payload: { data: { ticks: number } } };
