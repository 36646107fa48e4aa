import { atTurnEnd } from './gather-writes.ts';

/** Asks for several things of one kind at once; resolves with their answers, in the same order. */
type AskAll<Key, Item, Answer> = (key: Key, items: readonly Item[]) => Promise<readonly Answer[]>;

type Waiting<Item, Answer> = {
  item: Item;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
};

/** What one command asks for, at most: Redis does nothing else meanwhile. */
const MAX_ITEMS = 256;

/**
 * What is asked for under one key in one turn of the event loop is asked for at once, in the order in which it
 * came: where much comes, that spares Redis and this process most of the commands, and it delays nothing, because
 * the turn's commands go out together anyway. A failure is everyone's who asked with it.
 */
export function gatherTurn<Key, Item, Answer>(
  askAll: AskAll<Key, Item, Answer>,
): (key: Key, item: Item) => Promise<Answer> {
  let groups = new Map<Key, Waiting<Item, Answer>[]>();

  function send(): void {
    const all = groups;
    groups = new Map();
    for (const [key, group] of all) {
      for (let start = 0; start < group.length; start += MAX_ITEMS) {
        void askFor(key, group.length > MAX_ITEMS ? group.slice(start, start + MAX_ITEMS) : group);
      }
    }
  }

  async function askFor(key: Key, group: readonly Waiting<Item, Answer>[]): Promise<void> {
    try {
      const answers = await askAll(
        key,
        group.map(({ item }) => item),
      );
      for (const [index, answer] of answers.entries()) group[index]?.resolve(answer);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  }

  return (key, item) =>
    new Promise((resolve, reject) => {
      const group = groups.get(key);
      if (group !== undefined) {
        group.push({ item, resolve, reject });
        return;
      }
      if (groups.size === 0) atTurnEnd(send);
      groups.set(key, [{ item, resolve, reject }]);
    });
}
