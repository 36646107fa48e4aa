import { spreadOf, spreadText } from '../report/ratios.ts';
import type { CallScripts } from '../simulate/unit-costs.ts';
import { medianScripts, scriptsPerCall, scriptsText } from './sharing.ts';
import { SYSTEM_PARTS, eachPart } from './processes.ts';
import type { CpuUs, Meter } from './processes.ts';

/** Calls under one condition. `call` resolves with their number once account has counted them. */
export type CallState = {
  what: string;
  meter: Meter;
  call: (seconds?: number) => Promise<number>;
};

/** Per call: medians of all rounds. */
export type MeasuredCalls = { cpu: CpuUs; scripts: CallScripts };

export type CountScripts = () => Promise<CallScripts>;

const ROUNDS = 5;
export const WARM_UP_SEC = 5;

/** All states in turn, round by round, because a machine's speed varies within minutes. */
export async function measureInTurn<Name extends string>(
  states: Readonly<Record<Name, CallState>>,
  countScripts: CountScripts,
): Promise<{ measured: Record<Name, MeasuredCalls>; lines: string[] }> {
  const named = Object.entries<CallState>(states);
  for (const [, { meter, call }] of named) {
    await call(WARM_UP_SEC);
    await meter.readIdle();
  }
  const rounds = new Map<string, MeasuredCalls[]>(named.map(([name]) => [name, []]));
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const [name, state] of named) rounds.get(name)?.push(await measureRound(state, countScripts));
  }
  const lines = named.map(([name, { what }]) => lineOf(what, rounds.get(name) ?? []));
  const measured = Object.fromEntries([...rounds].map(([name, own]) => [name, medianOf(own)])) as Record<
    Name,
    MeasuredCalls
  >;
  return { measured, lines };
}

async function measureRound(
  { what, meter, call }: CallState,
  countScripts: CountScripts,
): Promise<MeasuredCalls> {
  const before = await countScripts();
  let calls = 0;
  const cpu = await meter.measure(what, async () => (calls = await call()));
  const after = await countScripts();
  return { cpu, scripts: scriptsPerCall(before, after, calls) };
}

function medianOf(rounds: readonly MeasuredCalls[]): MeasuredCalls {
  return {
    cpu: eachPart((part) => spreadOf(rounds.map(({ cpu }) => cpu[part])).median),
    scripts: medianScripts(rounds.map(({ scripts }) => scripts)),
  };
}

function lineOf(what: string, rounds: readonly MeasuredCalls[]): string {
  const figures = SYSTEM_PARTS.map((part) => spreadText(spreadOf(rounds.map(({ cpu }) => cpu[part])), 1));
  return `${what}: ${figures.join(' / ')}; ${scriptsText(medianOf(rounds).scripts)}`;
}
