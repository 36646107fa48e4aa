import type { Query } from '../platform/database/query.ts';

/** `change`: a sentence of what it changed here; null if all was as the provider says. */
export type Applied = { outcome: 'applied' | 'ignored'; change: string | null };

/** Brings our rows to what was read at the provider. `query` is a transaction's. */
export type Apply = (query: Query) => Promise<Applied>;
