import { crc32 } from 'node:zlib';

/*
 * Heads that a process has read lately, whichever connection they came on, so that one that comes again isn't read
 * again. They hold credentials in plain text, so they are few, short and forgotten soon (docs/design/listeners.md).
 */

/** Of all heads, in two generations: the younger one takes the place of the older one when it is full, or old. */
const MAX_ENTRIES = 4_096;
const MAX_BYTES = 4 * 1_024 * 1_024;
const MAX_HEAD_BYTES = 4_096;
/** What isn't used for one generation is forgotten at the end of the next, at the latest. */
const GENERATION_MS = 10_000;

const SEEN_SLOTS = 8_192;

export type RecentHeads<Read> = {
  /** What was read of the head with this text, each character a byte; undefined unless it is kept. */
  find: (text: string) => Read | undefined;
  /**
   * Notes a head that isn't kept, and tells whether it may be: one that comes only once isn't worth its place. A
   * checksum decides, which may take one head for another, so nothing but the place in memory may depend on it.
   */
  cameBefore: (head: Buffer) => boolean;
  /** `marks` say whose head it is. */
  keep: (text: string, read: Read, marks: readonly string[]) => void;
  forget: (text: string) => void;
  /** All heads with this mark. */
  forgetMarked: (mark: string) => void;
  clear: () => void;
};

type Kept<Read> = { read: Read; marks: readonly string[] };

export function createRecentHeads<Read>(): RecentHeads<Read> {
  const seen = new Uint32Array(SEEN_SLOTS);
  /** A map compares whole texts, and V8 hashes them with a seed that no caller knows. */
  let young = new Map<string, Kept<Read>>();
  let old = new Map<string, Kept<Read>>();
  let youngBytes = 0;
  let aging: NodeJS.Timeout | undefined;

  function age(): void {
    old = young;
    young = new Map();
    youngBytes = 0;
  }

  /** An idle process isn't woken. */
  function ageByTime(): void {
    age();
    aging = old.size === 0 ? undefined : setTimeout(ageByTime, GENERATION_MS).unref();
  }

  function add(text: string, kept: Kept<Read>): void {
    if (young.size >= MAX_ENTRIES / 2 || youngBytes + text.length > MAX_BYTES / 2) age();
    young.set(text, kept);
    youngBytes += text.length;
    aging ??= setTimeout(ageByTime, GENERATION_MS).unref();
  }

  function forget(text: string): void {
    old.delete(text);
    if (young.delete(text)) youngBytes -= text.length;
  }

  return {
    find: (text) => {
      const known = young.get(text);
      if (known !== undefined) return known.read;
      const older = old.get(text);
      if (older === undefined) return undefined;
      old.delete(text);
      add(text, older);
      return older.read;
    },
    cameBefore: (head) => {
      if (head.length > MAX_HEAD_BYTES) return false;
      const checksum = crc32(head);
      const slot = checksum % SEEN_SLOTS;
      const came = seen[slot] === checksum;
      seen[slot] = checksum;
      return came;
    },
    keep: (text, read, marks) => {
      forget(text);
      add(text, { read, marks });
    },
    forget,
    forgetMarked: (mark) => {
      for (const heads of [young, old]) {
        for (const [text, { marks }] of heads) if (marks.includes(mark)) forget(text);
      }
    },
    clear: () => {
      age();
      age();
    },
  };
}
