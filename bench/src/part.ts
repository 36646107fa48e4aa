import type { Servers } from './servers.ts';

/** What is wished of a figure; reported, never asserted. */
export type Goal = { what: string; figure: string; target: string; reached: boolean };

/** What a part has measured. */
export type PartResult = {
  goals: Goal[];
  /** Lines of RESULTS.md: the absolute figures, and what limited them. */
  notes: string[];
  /** Versions of what only this part uses. */
  versions?: Record<string, string>;
  /** All that was measured, for results.json. */
  figures: unknown;
};

export type Part = {
  timeLimitSec: number;
  run: (servers: Servers, say: (line: string) => void) => Promise<PartResult>;
};
