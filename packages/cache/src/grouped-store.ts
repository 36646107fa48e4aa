import { LRUCache } from 'lru-cache';

/** Each value expires on its own, and its group can be dropped at once. */
export type GroupedStore<Key, Group, Value> = {
  /** Times are of performance.now(). */
  get: (key: Key, nowMs?: number) => Value | undefined;
  set: (key: Key, group: Group, value: Value, expiresAtMs: number) => void;
  drop: (key: Key) => void;
  dropGroup: (group: Group) => void;
  /** A copy, so that entries may be set and dropped meanwhile. */
  keysOf: (group: Group) => Key[];
  clear: () => void;
};

/** Evicts the least recently used entry at `max`. */
export function createGroupedStore<Key extends string | number, Group, Value>(
  max: number,
): GroupedStore<Key, Group, Value> {
  const keysByGroup = new Map<Group, Set<Key>>();
  const entries = new LRUCache<Key, { group: Group; value: Value; expiresAtMs: number }>({
    max,
    // Also called for an entry that is pushed out, or replaced by one of another group.
    dispose: ({ group }, key) => {
      const keys = keysByGroup.get(group);
      keys?.delete(key);
      if (keys?.size === 0) keysByGroup.delete(group);
    },
  });
  const keysOf = (group: Group) => [...(keysByGroup.get(group) ?? [])];
  return {
    get: (key, nowMs = performance.now()) => {
      const entry = entries.get(key);
      if (entry === undefined) return undefined;
      if (nowMs < entry.expiresAtMs) return entry.value;
      entries.delete(key);
      return undefined;
    },
    set: (key, group, value, expiresAtMs) => {
      entries.set(key, { group, value, expiresAtMs });
      const keys = keysByGroup.get(group);
      if (keys === undefined) keysByGroup.set(group, new Set([key]));
      else keys.add(key);
    },
    drop: (key) => {
      entries.delete(key);
    },
    dropGroup: (group) => {
      for (const key of keysOf(group)) entries.delete(key);
    },
    keysOf,
    clear: () => {
      entries.clear();
    },
  };
}
