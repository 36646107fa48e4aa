import { times, toPoints } from '../thousandths.ts';
import { countOf } from './inputs.ts';
import type { Alternative, Evaluated, Program, Term } from './program.ts';

/** What a field costs by itself, without those below it. */
export type FieldCost = {
  /** Response keys; lists have no indices. */
  path: readonly string[];
  points: number;
};

/** A field by itself (`step` is null), or all fields of a selection, which cost `most` at most. */
type Candidate = { path: readonly string[]; most: number; runs: number; step: number | null };

/** Selections that are looked into. */
const MAX_LOOKS = 500;

/** The dearest first. Selections are looked into by what they cost in all, so that most of them never are. */
export function dearestFields({ steps }: Program, evaluated: Evaluated, count: number): FieldCost[] {
  const { costsOf, valueOf } = evaluated;
  const dearest: FieldCost[] = [];
  const open: Candidate[] = [{ path: [], most: Infinity, runs: 1, step: steps.length - 1 }];

  function look(path: readonly string[], runs: number, { responseKey, own, size, typeWeight, inner }: Term) {
    const at = [...path, responseKey];
    const items = times(runs, size === null ? 1 : countOf(valueOf(size)));
    open.push({ path: at, most: times(runs, valueOf(own)) + times(items, typeWeight), runs, step: null });
    if (inner === null) return;
    const { fieldCost, typeCost } = costsOf(inner);
    open.push({ path: at, most: times(items, fieldCost + typeCost), runs: items, step: inner });
  }

  for (let looks = 0; looks < MAX_LOOKS && dearest.length < count; looks += 1) {
    const next = takeDearest(open);
    if (next === undefined || next.most === 0) break;
    if (next.step === null) dearest.push({ path: next.path, points: toPoints(next.most) });
    else
      for (const term of dearestAlternative(steps[next.step]?.alternatives ?? [], evaluated))
        look(next.path, next.runs, term);
  }
  return dearest;
}

function takeDearest(open: Candidate[]): Candidate | undefined {
  let at = 0;
  for (const [index, { most }] of open.entries()) if (most > (open[at]?.most ?? 0)) at = index;
  return open.splice(at, 1)[0];
}

function dearestAlternative(
  alternatives: readonly Alternative[],
  { costsOf, valueOf }: Evaluated,
): Alternative {
  const costOf = (terms: Alternative) => {
    let cost = 0;
    for (const { own, size, typeWeight, inner } of terms) {
      const below = inner === null ? 0 : costsOf(inner).fieldCost + costsOf(inner).typeCost;
      cost += valueOf(own) + times(size === null ? 1 : countOf(valueOf(size)), typeWeight + below);
    }
    return cost;
  };
  const [first = [], ...others] = alternatives;
  return others.reduce((dearest, each) => (costOf(each) > costOf(dearest) ? each : dearest), first);
}
