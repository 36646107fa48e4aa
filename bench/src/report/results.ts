import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Goal, PartResult } from '../part.ts';
import type { RunFacts } from './run-facts.ts';
import { table } from './table.ts';

/** Parts run one by one, on any machine, so each has its own facts. */
type PartRecord = PartResult & { name: string; run: RunFacts };

/** A part that wasn't run now keeps its last result. */
export function writeResults(
  directory: string,
  results: ReadonlyMap<string, PartResult>,
  order: readonly string[],
  run: RunFacts,
): void {
  const file = join(directory, 'results.json');
  const known = new Map(readRecords(file).map((record) => [record.name, record]));
  for (const [name, result] of results) known.set(name, { name, ...result, run });
  const parts = order.flatMap((name) => known.get(name) ?? []);
  writeFileSync(file, `${JSON.stringify({ parts }, rounded, 2)}\n`);
  writeFileSync(join(directory, 'RESULTS.md'), markdown(parts));
}

export function goalText({ what, figure, target, reached }: Goal): string {
  return `${what}: ${figure}; target ${target}, ${reached ? 'reached' : 'NOT reached'}`;
}

function readRecords(file: string): PartRecord[] {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as { parts: PartRecord[] }).parts;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

function markdown(records: readonly PartRecord[]): string {
  const goals = records.flatMap(({ name, goals: ofPart, run }) =>
    ofPart.map(({ what, figure, target, reached }) => [
      name,
      what,
      figure,
      target,
      reached ? 'yes' : '**no**',
      run.date,
    ]),
  );
  return `# Results

Written by \`npm run bench\`. Compare only the ratios: each is of two rounds that followed each other on one machine. How it is measured: [README.md](README.md).

${table([['part', 'what', 'median (min–max)', 'target', 'reached', 'measured'], ...goals])}
${records.map(section).join('')}`;
}

function section({ name, notes, versions, run }: PartRecord): string {
  const used = Object.entries({ ...run.versions, ...versions }).map(
    ([what, version]) => `${what} ${version}`,
  );
  const lines = [
    `\`${run.command}\`, ${run.date}`,
    `${run.machine}; ${run.places}`,
    used.join(', '),
    ...notes,
  ];
  return `\n## ${name}\n\n${lines.map((line) => `- ${line}\n`).join('')}`;
}

export function asWritten<T>(figures: T): T {
  return JSON.parse(JSON.stringify(figures, rounded)) as T;
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}
