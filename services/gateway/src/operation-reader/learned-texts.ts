import { LRUCache } from 'lru-cache';

/** Texts of documents by their SHA-256, as each payer's calls have registered them in this process. */
export type LearnedTexts = {
  get: (payerId: number, sha256: string) => string | undefined;
  set: (payerId: number, sha256: string, text: string) => void;
};

/** Of one payer's texts, and of all. */
const PAYER_MAX_LENGTH = 1_048_576;
const TOTAL_MAX_LENGTH = 33_554_432;
/** What an entry takes beside its text. */
const ENTRY_LENGTH = 256;

/** A payer that registers many texts drops its own; beyond the total, all of the payer whose calls named none longest. */
export function createLearnedTexts(totalMaxLength = TOTAL_MAX_LENGTH): LearnedTexts {
  /** Those used last are at the end. */
  const ofPayers = new Map<number, LRUCache<string, string>>();
  let length = 0;

  function used(payerId: number, texts: LRUCache<string, string>): void {
    ofPayers.delete(payerId);
    ofPayers.set(payerId, texts);
  }

  function newTexts(): LRUCache<string, string> {
    return new LRUCache<string, string>({
      maxSize: PAYER_MAX_LENGTH,
      sizeCalculation: (text) => text.length + ENTRY_LENGTH,
    });
  }

  return {
    get: (payerId, sha256) => {
      const texts = ofPayers.get(payerId);
      if (texts === undefined) return undefined;
      used(payerId, texts);
      return texts.get(sha256);
    },
    set: (payerId, sha256, text) => {
      const texts = ofPayers.get(payerId) ?? newTexts();
      used(payerId, texts);
      length -= texts.calculatedSize;
      texts.set(sha256, text);
      length += texts.calculatedSize;
      for (const [oldest, { calculatedSize }] of ofPayers) {
        if (length <= totalMaxLength || oldest === payerId) return;
        ofPayers.delete(oldest);
        length -= calculatedSize;
      }
    },
  };
}
