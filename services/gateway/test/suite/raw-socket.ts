import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { ClientOptions } from 'ws';
import { waitFor } from '@tollgate/stack/wait-for';

type Message = { type: string; id?: string; payload?: unknown };

/** Sends and records whatever a test wants, without any client's rules. */
export type RawSocket = {
  socket: WebSocket;
  received: Message[];
  send: (...messages: (object | string | Buffer)[]) => void;
  /** The first matching message, once it has come. Rejects once the socket is closed without it. */
  message: (fits: Partial<Message>) => Promise<Message>;
  /** How it was closed: code and reason. */
  closed: Promise<{ code: number; reason: string; atMs: number }>;
};

export type RawOptions = ClientOptions & { protocol?: string };

/** Rejects if the upgrade is refused. */
export async function openRaw(url: string, options: RawOptions = {}): Promise<RawSocket> {
  const { protocol = 'graphql-transport-ws', ...rest } = options;
  const socket = new WebSocket(url, protocol === '' ? [] : protocol.split(','), rest);
  const received: Message[] = [];
  socket.on('message', (data: Buffer) => received.push(JSON.parse(data.toString()) as Message));
  let end: string | undefined;
  const closed = new Promise<{ code: number; reason: string; atMs: number }>((resolve) => {
    socket.once('close', (code, reason) => {
      end = `${String(code)} ${reason.toString()}`;
      resolve({ code, reason: reason.toString(), atMs: performance.now() });
    });
  });
  await once(socket, 'open');
  socket.on('error', () => undefined);
  return {
    socket,
    received,
    closed,
    send: (...messages) => {
      for (const message of messages) {
        const isRaw = typeof message === 'string' || Buffer.isBuffer(message);
        socket.send(isRaw ? message : JSON.stringify(message));
      }
    },
    message: async (fits) => {
      const what = () => `${JSON.stringify(fits)} after ${JSON.stringify(received.slice(-3))}`;
      const fitting = () =>
        received.find((one) =>
          Object.entries(fits).every(([key, value]) => one[key as keyof Message] === value),
        );
      await waitFor(() => fitting() !== undefined || end !== undefined, { what });
      const message = fitting();
      if (message === undefined) throw new Error(`The socket was closed (${String(end)}) without ${what()}.`);
      return message;
    },
  };
}

/** A socket whose connection_init is acknowledged. */
export async function openReady(url: string, token: string, options: RawOptions = {}): Promise<RawSocket> {
  const raw = await openRaw(url, {
    ...options,
    headers: { authorization: `Bearer ${token}`, ...options.headers },
  });
  raw.send({ type: 'connection_init' });
  await raw.message({ type: 'connection_ack' });
  return raw;
}

export type Refusal = { status: number; body: unknown; headers: Record<string, unknown> };

/** The response of a refused upgrade. */
export function refusedUpgrade(url: string, options: RawOptions = {}): Promise<Refusal> {
  const { protocol = 'graphql-transport-ws', ...rest } = options;
  const socket = new WebSocket(url, protocol === '' ? [] : protocol.split(','), rest);
  return new Promise((resolve, reject) => {
    socket.once('error', reject).once('open', () => {
      socket.terminate();
      reject(new Error('the upgrade was accepted'));
    });
    socket.once('unexpected-response', (_request, response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => {
        const body = JSON.parse(text) as unknown;
        resolve({ status: response.statusCode ?? 0, body, headers: response.headers });
      });
    });
  });
}
