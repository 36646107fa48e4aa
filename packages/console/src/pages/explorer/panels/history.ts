import type { ExplorerStorage } from '../../../api/explorer-storage.ts';

const HISTORY_MAX = 50;
const NAME = 'history';

export type HistoryEntry = { query: string; variables: string; operationName: string | null; at: string };

export function readHistory(storage: ExplorerStorage): readonly HistoryEntry[] {
  try {
    const stored: unknown = JSON.parse(storage.getItem(NAME) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isEntry) : [];
  } catch {
    return [];
  }
}

/** Adds an operation that was run; running it again moves it to the top. */
export function addToHistory(storage: ExplorerStorage, entry: HistoryEntry): readonly HistoryEntry[] {
  const others = readHistory(storage).filter(
    ({ query, variables }) => query !== entry.query || variables !== entry.variables,
  );
  const entries = [entry, ...others].slice(0, HISTORY_MAX);
  storage.setItem(NAME, JSON.stringify(entries));
  return entries;
}

function isEntry(value: unknown): value is HistoryEntry {
  if (typeof value !== 'object' || value === null) return false;
  const { query, variables, at } = value as Record<string, unknown>;
  return typeof query === 'string' && typeof variables === 'string' && typeof at === 'string';
}
