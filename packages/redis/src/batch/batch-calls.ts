import { endLongBatch, onBatchEnd } from './batch-writes.ts';

type CallBatch<Key, Item, Result> = (key: Key, items: readonly Item[]) => Promise<readonly Result[]>;

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

type BatchOptions = {
  /** The call waits for Redis' disk: a long turn of the event loop makes several. Default: false. */
  isSynced?: boolean;
  /** Default: 256. */
  maxItems?: number;
};

/** Redis does nothing else while it runs a command. */
const MAX_ITEMS = 256;

/**
 * Calls for one key in one turn of the event loop share a batch, in their order; a failed batch fails all of
 * them. That delays none, because the turn's commands are written together anyway (batch-writes.ts).
 */
export function batchCalls<Key, Item, Result>(
  callBatch: CallBatch<Key, Item, Result>,
  { isSynced = false, maxItems = MAX_ITEMS }: BatchOptions = {},
): (key: Key, item: Item) => Promise<Result> {
  let batches = new Map<Key, Waiting<Item, Result>[]>();

  function sendAll(): void {
    const all = batches;
    batches = new Map();
    for (const [key, batch] of all) {
      for (let start = 0; start < batch.length; start += maxItems) {
        void send(key, batch.length > maxItems ? batch.slice(start, start + maxItems) : batch);
      }
    }
  }

  async function send(key: Key, batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await callBatch(
        key,
        batch.map(({ item }) => item),
      );
      for (const [index, result] of results.entries()) batch[index]?.resolve(result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      if (batches.size === 0) onBatchEnd(sendAll);
      const batch = batches.get(key) ?? [];
      batch.push({ item, resolve, reject });
      batches.set(key, batch);
      if (isSynced) endLongBatch();
    });
}
