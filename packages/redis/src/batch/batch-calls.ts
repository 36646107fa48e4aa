import { endLongBatch, onBatchEnd } from './batch-writes.ts';

type CallBatch<Key, Item, Result> = (key: Key, items: readonly Item[]) => Promise<readonly Result[]>;

type Waiting<Item, Result> = {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
};

type BatchOptions<Item> = {
  /** The call waits for Redis' disk: a long turn of the event loop makes several. Default: false. */
  isSynced?: boolean;
  /** Of a batch of several items. Default: 256. */
  maxWeight?: number;
  /** Default: 1. */
  weightOf?: (item: Item) => number;
};

/** Redis does nothing else while it runs a command. */
const MAX_WEIGHT = 256;

/**
 * Calls for one key in one turn of the event loop share a batch, in their order; a failed batch fails all of
 * them. That delays none, because the turn's commands are written together anyway (batch-writes.ts).
 */
export function batchCalls<Key, Item, Result>(
  callBatch: CallBatch<Key, Item, Result>,
  { isSynced = false, maxWeight = MAX_WEIGHT, weightOf = () => 1 }: BatchOptions<Item> = {},
): (key: Key, item: Item) => Promise<Result> {
  let batches = new Map<Key, Waiting<Item, Result>[]>();

  function sendAll(): void {
    const all = batches;
    batches = new Map();
    for (const [key, waiting] of all) {
      let [batch, weight]: [Waiting<Item, Result>[], number] = [[], 0];
      for (const one of waiting) {
        const more = weightOf(one.item);
        if (batch.length > 0 && weight + more > maxWeight) {
          void send(key, batch);
          [batch, weight] = [[], 0];
        }
        batch.push(one);
        weight += more;
      }
      void send(key, batch);
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
