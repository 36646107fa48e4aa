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

export type Part = MeasuringPart | ComputingPart;

type Say = (line: string) => void;

type MeasuringPart = {
  timeLimitSec: number;
  run: (servers: Servers, say: Say) => Promise<PartResult>;
};

/** Needs no servers; `project` is the project's directory. */
type ComputingPart = {
  timeLimitSec: number;
  compute: (project: string, say: Say) => Promise<PartResult>;
};
