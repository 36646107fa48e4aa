import type { Socket } from 'node:net';

type Done = (error?: Error | null) => void;

/**
 * Keeps a connection whose server takes no more until what it has sent is read: its answer, often why. A failed write
 * would destroy the socket with that unread (RFC 9112, section 9.6). The end that follows ends the connection.
 */
export function hearOut(socket: Socket): void {
  const write = socket._write.bind(socket);
  const writeMany = socket._writev?.bind(socket);
  let doneOf: Done | undefined;
  let unlessFailed: Done;

  /** A stream has one such function for all its writes. */
  function whileSound(done: Done): Done {
    if (done === doneOf) return unlessFailed;
    doneOf = done;
    unlessFailed = (error) => {
      if ((error ?? null) === null) done();
    };
    return unlessFailed;
  }

  socket._write = (chunk, encoding, done) => {
    write(chunk, encoding, whileSound(done));
  };
  if (writeMany !== undefined) {
    socket._writev = (chunks, done) => {
      writeMany(chunks, whileSound(done));
    };
  }
}
