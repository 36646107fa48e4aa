import type { Socket } from 'node:net';

/** Interim answers (RFC 9110, section 15.2); 101 is none to an HTTP client. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
const CONTINUE = /^HTTP\/1\.[01] 100/;
/** As many bytes as tell whether an answer is an interim one. */
const STATUS_BYTES = 13;
/** Longer ones are left to the HTTP client, which ends the connection. */
const MAX_BYTES = 16_384;
const NOTHING: Buffer = Buffer.alloc(0);

/** Whether the next bytes of a connection are an answer's head, and who wants to know that it has come. */
export type HeadWatch = { awaitsHead: () => boolean; headCame: () => void };

/**
 * Takes `100 Continue` out of what a connection receives before an answer's head. A client that didn't ask for it
 * may discard it (RFC 9110, section 15.2.1); undici ends the connection instead, and has no option for it.
 */
export function dropUnsolicitedContinue(socket: Socket, { awaitsHead, headCame }: HeadWatch): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held: Buffer = NOTHING;

  /** What the client gets of the received bytes; nothing while more are needed to know. */
  function withoutContinue(received: Buffer): Buffer {
    let bytes = held.length === 0 ? received : Buffer.concat([held, received]);
    let passed: Buffer = NOTHING;
    held = NOTHING;
    while (bytes.length > 0) {
      const start = bytes.toString('latin1', 0, STATUS_BYTES);
      const isInterim = INTERIM.test(start);
      const mayBecomeOne = start.length < STATUS_BYTES && 'HTTP/1.'.startsWith(start.slice(0, 7));
      const end = isInterim ? bytes.indexOf('\r\n\r\n') + 4 : 3;
      if (end > 3) {
        if (!CONTINUE.test(start)) passed = Buffer.concat([passed, bytes.subarray(0, end)]);
        bytes = bytes.subarray(end);
      } else if ((isInterim || mayBecomeOne) && bytes.length < MAX_BYTES) {
        held = bytes;
        return passed;
      } else {
        headCame();
        return passed.length === 0 ? bytes : Buffer.concat([passed, bytes]);
      }
    }
    return passed;
  }

  socket.read = (size?: number) => {
    for (;;) {
      const received = read(size);
      if (received === null || !awaitsHead()) return received;
      const left = withoutContinue(received);
      if (left.length > 0) return left;
    }
  };
}
