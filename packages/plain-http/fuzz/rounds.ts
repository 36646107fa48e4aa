import type { Random } from './random.ts';

export type Difference = { sent: unknown; got: unknown; expected: unknown };

/** One comparison, to be made again and again. */
export type Rounds = {
  name: string;
  /** How many messages have been read by code of our own: without any, nothing was compared. */
  plain: () => number;
  /** Null if both sides agree. */
  round: (random: Random) => Promise<Difference | null>;
  close: () => unknown;
};
