import { isWhole } from './http-message.ts';
import type { HttpRequest } from './http-message.ts';

/*
 * Most clients and servers repeat their heads, so what is made of a head is kept. Nothing is looked up by what a head
 * says: it is the same bytes or the same object, or it is made anew. What `make` throws isn't kept.
 */

/** Reads the heads of one connection or server. One that repeats the last, byte for byte, isn't read again. */
export function keepLastRead<Read extends { bodyStart: number; keptBytes?: Buffer | null }>(
  read: (bytes: Buffer) => Read | 'incomplete' | null,
): (bytes: Buffer) => Read | 'incomplete' | null {
  let known: Buffer = Buffer.alloc(0);
  let last: Read | undefined;
  return (bytes) => {
    if (last !== undefined && startsWith(bytes, known)) return last;
    const result = read(bytes);
    if (result === null || result === 'incomplete') return result;
    last = result;
    // A slice would keep all bytes that were received with it.
    known = result.keptBytes ?? Buffer.from(bytes.subarray(0, result.bodyStart));
    return result;
  };
}

function startsWith(bytes: Buffer, head: Buffer): boolean {
  const { length } = head;
  return bytes.length >= length && bytes.compare(head, 0, length, 0, length) === 0;
}

/** Keeps what is made of the last key, for keys that come in runs. */
export function keepLast<Key, Made>(make: (key: Key) => Made): (key: Key) => Made {
  let last: { key: Key; made: Made } | undefined;
  return (key) => {
    if (last?.key !== key) last = { key, made: make(key) };
    return last.made;
  };
}

/** Keeps what is made of each of a few keys. */
export function keepFew<Key, Made>(max: number, make: (key: Key) => Made): (key: Key) => Made {
  const kept = new Map<Key, { made: Made }>();
  return (key) => {
    let known = kept.get(key);
    if (known === undefined) {
      known = { made: make(key) };
      if (kept.size === max) kept.clear();
      kept.set(key, known);
    }
    return known.made;
  };
}

/** Keeps what is made of each key as long as the key lives. */
export function keepEach<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const kept = new WeakMap<Key, { made: Made }>();
  return (key) => {
    let known = kept.get(key);
    if (known === undefined) {
      known = { made: make(key) };
      kept.set(key, known);
    }
    return known.made;
  };
}

/**
 * Keeps what is made of a request's head from its first repetition on its connection on, or as long as the process
 * keeps the head: kept from the first request on, heads that don't repeat would cost a third more
 * (docs/measurements/gateway-speed.md). `make` may only read the head: nothing of the body, and nothing of the
 * connection.
 */
export function keepPerHead<Made>(make: (req: HttpRequest) => Made): (req: HttpRequest) => Made {
  const kept = new WeakMap<readonly string[], { made: Made }>();
  return (req) => {
    if (!repeatsHead(req)) return make(req);
    let known = kept.get(req.rawHeaders);
    if (known === undefined) {
      known = { made: make(req) };
      kept.set(req.rawHeaders, known);
    }
    return known.made;
  };
}

/** Whether its connection's last request had the same head, or the process keeps it. */
export function repeatsHead(req: HttpRequest): boolean {
  return isWhole(req) && req.repeatsHead;
}
