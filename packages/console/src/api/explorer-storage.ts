const PREFIX = 'tollgate:explorer:';

/** Raised at sign-out, so that an editor that is still closing writes nothing afterwards. */
let generation = 0;

/** The name of a query with which the explorer is opened from another page, once. */
export const OPENED = 'opened';

/** What GraphiQL keeps between visits, for one account: queries, variables and tabs, no headers and no results. */
export function explorerStorage(accountId: number) {
  const openedIn = generation;
  const keyOf = (name: string) => `${PREFIX}${String(accountId)}:${name}`;
  return {
    length: 0,
    getItem: (name: string) => localStorage.getItem(keyOf(name)),
    setItem: (name: string, value: string) => {
      if (generation !== openedIn || name.endsWith('headers')) return;
      try {
        localStorage.setItem(keyOf(name), value);
      } catch {
        // A full storage loses what was typed on the next visit, not now.
      }
    },
    removeItem: (name: string) => {
      localStorage.removeItem(keyOf(name));
    },
    clear: clearExplorerStorage,
  };
}

export type ExplorerStorage = ReturnType<typeof explorerStorage>;

/** Forgets the queries of all accounts in this browser; at sign-out. */
export function clearExplorerStorage(): void {
  generation += 1;
  for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
}

// Another tab has signed out. It also takes what it was opened with.
addEventListener('storage', ({ key, newValue }) => {
  if (key?.startsWith(PREFIX) === true && newValue === null && !key.endsWith(`:${OPENED}`)) generation += 1;
});
