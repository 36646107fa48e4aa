import type { Servers } from './servers.ts';

/** Reported, never asserted. */
export type Goal = { what: string; figure: string; target: string; reached: boolean };

export type PartResult = {
  goals: Goal[];
  /** Lines of RESULTS.md: the absolute figures, and what limited them. */
  notes: string[];
  /** Versions of what only this part uses. */
  versions?: Record<string, string>;
  /** For results.json. */
  figures: unknown;
};

export type Part = {
  timeLimitSec: number;
  run: (servers: Servers, say: (line: string) => void) => Promise<PartResult>;
};
