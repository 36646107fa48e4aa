import type { UsedOperation } from './operations.ts';

/** Documents without a name are told apart by the beginning of their hash. */
export function nameOf({ name, hash }: Pick<UsedOperation, 'name' | 'hash'>): string {
  return name ?? `(unnamed) ${hash.slice(0, 7)}`;
}
