import type { Readable } from 'node:stream';

/** Whom a connection is used for; undefined for the service itself. */
export type Holder = string | number | undefined;

/** Header fields are names and values in turn. The pool adds Host and, unless they state it, the length of a known body. */
export type PoolRequest = {
  method: string;
  path: string;
  /** Sent before `headers`. A list that several requests share is checked and put together once. */
  sharedHeaders?: readonly string[];
  headers: readonly string[];
  body: Buffer | Readable | null;
  /** Holders wait in turn, and have `connectionsPerHolder` at most. */
  holder?: Holder;
};
