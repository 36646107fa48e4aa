import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';

/** V8 hashes longer texts by their length alone, so that a look-up compares all of one length. */
const KEY_MAX_LENGTH = 16_384;
/** What an entry takes beside its text; a refusal has a stack. */
const ENTRY_LENGTH = 1_024;
/** The part of the room for texts that haven't come again. */
const PART_OF_NEW = 4;

/** What was made of texts. */
export type TextCache<T extends object> = {
  /** What `make` throws is not kept. */
  of: (text: string, make: () => T) => T;
  clear: () => void;
};

/**
 * Keeps what is made of texts, of `maxLength` characters in all. Texts that came once have a part of the room, so a
 * caller with ever new ones doesn't displace those that are repeated.
 */
export function createTextCache<T extends object>(maxLength: number): TextCache<T> {
  const newOnes = kept<T>(maxLength / PART_OF_NEW);
  const repeated = kept<T>(maxLength - maxLength / PART_OF_NEW);
  return {
    of: (text, make) => {
      const key = text.length > KEY_MAX_LENGTH ? hash('sha256', text) : text;
      const known = repeated.get(key);
      if (known !== undefined) return known.value;
      const entry = newOnes.get(key);
      if (entry !== undefined) {
        newOnes.delete(key);
        repeated.set(key, entry);
        return entry.value;
      }
      const value = make();
      newOnes.set(key, { value, length: text.length });
      return value;
    },
    clear: () => {
      newOnes.clear();
      repeated.clear();
    },
  };
}

type Entry<T> = { value: T; length: number };

function kept<T>(maxSize: number): LRUCache<string, Entry<T>> {
  return new LRUCache({ maxSize, sizeCalculation: ({ length }) => length + ENTRY_LENGTH });
}
