import type { Socket } from 'node:net';
import { hasBareLf } from '../message/plain-fields.ts';

/** Interim responses (RFC 9110, section 15.2) but 101. */
const INTERIM = /^HTTP\/1\.[01] 1(?!01)\d\d[ \r]/;
const CONTINUE = /^HTTP\/1\.[01] 100/;
const STATUS_BYTES = 13;
/** undici ends the connection at longer ones. */
const MAX_BYTES = 16_384;
const NOTHING: Buffer = Buffer.alloc(0);

export type HeadWatch = { awaitsHead: () => boolean; headCame: () => void };

/** Removes `100 Continue`, which a client may discard (RFC 9110, section 15.2.1); undici would end the connection. */
export function dropUnsolicitedContinue(socket: Socket, { awaitsHead, headCame }: HeadWatch): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held: Buffer = NOTHING;

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
      } else if ((isInterim || mayBecomeOne) && bytes.length < MAX_BYTES && !hasBareLf(bytes)) {
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
