import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PartResult } from './measure.ts';
import type { Spread } from './ratios.ts';
import type { RunFacts } from './run-facts.ts';

/** A part's last run, with what it was measured under: parts are run one by one, on any machine. */
type PartRecord = PartResult & { run: RunFacts };

/** Writes results.json and RESULTS.md. A part that wasn't run now keeps its last result. */
export function writeResults(directory: string, results: readonly PartResult[], run: RunFacts): void {
  const file = join(directory, 'results.json');
  const kept = readRecords(file).filter(({ name }) => !results.some((result) => result.name === name));
  const records = [...kept, ...results.map((result) => ({ ...result, run }))];
  writeFileSync(file, `${JSON.stringify({ parts: records }, rounded, 2)}\n`);
  writeFileSync(join(directory, 'RESULTS.md'), markdown(records));
}

/** One line for the terminal: absolute figures, the ratio, and whether it reaches its target. */
export function summaryOf(result: PartResult): string {
  const { name, unit, peer, ours, peerRate, ratio, targetRatio, reached, halfLoad } = result;
  return (
    `${name}: ${whole(ours.median)} ${unit} beside ${whole(peerRate.median)} of ${peer}: ${times(ratio)}; ` +
    `target ${String(targetRatio)}, ${reached ? 'reached' : 'NOT reached'}. ` +
    `At ${whole(halfLoad.perSec)}/s, half of full load: p99 ${halfLoad.p99Ms.toFixed(1)} ms`
  );
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
  return `# Results

Written by \`npm run bench\`. Compare only the ratios: each is of two rounds that followed each other on one machine. How it is measured: [README.md](README.md).

${table([
  ['part', 'beside', 'times as fast: median (min–max)', 'target', 'reached', 'p99 at half load', 'measured'],
  ...records.map(({ name, peer, ratio, targetRatio, reached, halfLoad, run }) => [
    name,
    `${peer} ${run.versions[peer] ?? ''}`,
    times(ratio),
    `≥ ${String(targetRatio)}`,
    reached ? 'yes' : '**no**',
    `${halfLoad.p99Ms.toFixed(1)} ms`,
    run.date,
  ]),
])}
${records.map(section).join('')}`;
}

function section(record: PartRecord): string {
  const { name, unit, peer, ours, peerRate, halfLoad, run, doubts } = record;
  const versions = Object.entries(run.versions).map(([what, version]) => `${what} ${version}`);
  const busy = (side: 'ours' | 'peer') =>
    record.rounds.map((pair) => (pair[side].serverCpu * 100).toFixed(0)).join(', ');
  return `
## ${name}

- \`${run.command}\`, ${String(record.rounds.length)} rounds of ${String(record.roundSec)} s each, ${String(record.connections)} kept-alive connections
- ${run.machine}; ${run.places}
- ${versions.join(', ')}
- ours ${whole(ours.median)} ${unit} (${whole(ours.min)}–${whole(ours.max)}), ${peer} ${whole(peerRate.median)} (${whole(peerRate.min)}–${whole(peerRate.max)}); good for nothing but this machine
- ours at ${whole(halfLoad.perSec)}/s: p50 ${halfLoad.p50Ms.toFixed(1)} ms, p99 ${halfLoad.p99Ms.toFixed(1)} ms
- the server's share of its core in %, by round: ours ${busy('ours')}; ${peer} ${busy('peer')}
${doubts.length === 0 ? '- neither the load generator nor an idle server limited a round' : doubts.map((doubt) => `- ${doubt}`).join('\n')}
`;
}

/** A table as prettier lays it out. */
function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_head, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (row: readonly string[]) =>
    `| ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = rows;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...body.map(line)].join('\n');
}

function times({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}

function whole(value: number): string {
  return value.toFixed(0);
}

function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}
