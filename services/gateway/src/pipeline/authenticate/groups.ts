export type Groups<K, M> = {
  keys: () => Iterable<K>;
  of: (key: K) => ReadonlySet<M>;
  add: (key: K, member: M) => void;
  remove: (key: K, member: M) => void;
};

export function createGroups<K, M>(): Groups<K, M> {
  const none: ReadonlySet<M> = new Set();
  const groups = new Map<K, Set<M>>();
  return {
    keys: () => groups.keys(),
    of: (key) => groups.get(key) ?? none,
    add: (key, member) => {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, new Set([member]));
      else group.add(member);
    },
    remove: (key, member) => {
      const group = groups.get(key);
      group?.delete(member);
      if (group?.size === 0) groups.delete(key);
    },
  };
}
