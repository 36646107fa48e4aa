/** Bytes in the order of their arrival. One buffer, since a sender can make a chunk of each byte. */
export type GrowingBytes = {
  append: (chunk: Buffer) => void;
  /** Drops the first bytes. */
  drop: (count: number) => void;
  /** Valid until the next change. */
  view: () => Buffer;
};

const MIN_CAPACITY = 1_024;

export function createGrowingBytes(): GrowingBytes {
  let storage: Buffer = NOTHING;
  let start = 0;
  let end = 0;
  return {
    append: (chunk) => {
      if (end + chunk.length > storage.length) {
        const length = end - start;
        const larger = Buffer.allocUnsafe(Math.max(2 * (length + chunk.length), MIN_CAPACITY));
        storage.copy(larger, 0, start, end);
        storage = larger;
        start = 0;
        end = length;
      }
      end += chunk.copy(storage, end);
    },
    drop: (count) => {
      start = Math.min(start + count, end);
    },
    view: () => storage.subarray(start, end),
  };
}

const NOTHING = Buffer.alloc(0);
