import type { DestinationStream } from 'pino';

export type Lines = {
  /** Writes a line at once, behind those that wait. */
  write: (line: string) => void;
  /** Writes a line at the end of this turn of the event loop, with all others of it in one call. */
  writeSoon: (line: string) => void;
};

/** Who has lines that wait. */
const unflushed = new Set<() => void>();

process.once('exit', () => {
  for (const flush of unflushed) flush();
});

/**
 * Lines on their way to a destination. A write to stdout is a system call: one for each request was a tenth of
 * an introspection's time (bench). What waits is written when the process exits, however it comes to that, but
 * for SIGKILL.
 */
export function createLines(destination: DestinationStream, redact: (text: string) => string): Lines {
  let waiting = '';
  const flush = () => {
    unflushed.delete(flush);
    if (waiting === '') return;
    const text = waiting;
    waiting = '';
    destination.write(redact(text));
  };
  return {
    write: (line) => {
      waiting += line;
      flush();
    },
    writeSoon: (line) => {
      if (waiting === '') {
        unflushed.add(flush);
        setImmediate(flush);
      }
      waiting += line;
    },
  };
}
