import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Connections } from './connections.ts';

const END_OF_HEAD = '\r\n\r\n';
const CR = 13;
const LF = 10;

/**
 * Within a body, at least so many bytes are read at once, and with them at most the next ten heads: whatever a body
 * contains, reading it costs little.
 */
const MIN_BODY_PIECE_BYTES = 256;

type ToParser = (bytes: Buffer) => void;

export type OneByOne = {
  /** Serves a connection by node:http. */
  serve: (socket: Socket) => void;
  /** Leaves the connection to whom it is upgraded for. */
  release: (socket: Socket) => void;
};

/**
 * Lets node:http have a connection's next request when the last one is answered; until then it isn't read
 * (docs/design/listeners.md). By itself node:http reads, and begins, all requests of each piece of 64 KB.
 */
export function readOneByOne(server: Server, { lastAnswer }: Pick<Connections, 'lastAnswer'>): OneByOne {
  const parsers = new WeakMap<Socket, ToParser>();
  const [serveByNode] = server.listeners('connection') as ((socket: Socket) => void)[];
  if (serveByNode === undefined) throw new Error('the HTTP server has no listener of connections');
  server.off('connection', serveByNode);
  function onData(this: Socket, received: Buffer): void {
    let bytes = received;
    for (let toParser = parsers.get(this); bytes.length > 0 && this.writable; toParser = parsers.get(this)) {
      const res = lastAnswer(this);
      const isWithinBody = res !== null && !res.req.complete;
      if (res !== null && !isWithinBody && !res.writableFinished && !this.isPaused()) {
        this.pause();
        res.once('finish', () => this.resume());
      }
      // Also where node:http has paused it, because a body isn't read.
      if (this.isPaused() || toParser === undefined) {
        this.unshift(bytes);
        return;
      }
      const end = isWithinBody ? endOfHead(bytes, MIN_BODY_PIECE_BYTES) : endOfHead(bytes, textStart(bytes));
      toParser(bytes.subarray(0, end));
      bytes = bytes.subarray(end);
    }
  }

  return {
    serve: (socket) => {
      serveByNode.call(server, socket);
      const [toParser] = socket.listeners('data') as ToParser[];
      if (toParser === undefined) throw new Error('the HTTP server does not read its connection');
      parsers.set(socket, toParser);
      // With a listener of another's, node:http reads by events, not the handle itself.
      socket.off('data', toParser).on('data', onData);
    },
    release: (socket) => {
      if (parsers.delete(socket)) socket.off('data', onData);
    },
  };
}

/** Where the first head that ends at `from` or later does so; with the last one, or with all bytes, if none does. */
function endOfHead(bytes: Buffer, from: number): number {
  const next = bytes.indexOf(END_OF_HEAD, from);
  const at = next === -1 ? bytes.lastIndexOf(END_OF_HEAD) : next;
  return at === -1 ? bytes.length : at + END_OF_HEAD.length;
}

/** Empty lines before a request are ignored (RFC 9112, section 2.2). */
function textStart(bytes: Buffer): number {
  let start = 0;
  while (bytes[start] === CR || bytes[start] === LF) start += 1;
  return start;
}
