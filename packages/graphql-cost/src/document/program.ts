import { plus, times } from '../thousandths.ts';
import { countOf, isKnownSize } from './inputs.ts';
import type { Variables } from './inputs.ts';

/** A number, or the index of one that depends on variables. */
export type Amount = number | { readonly index: number };

/** Is given the values of those before it. */
export type DynamicAmount = (variables: Variables, values: readonly number[]) => number;

/** One field of a selection. All costs are in thousandths of a point. */
export type Term = {
  responseKey: string;
  /** Of one run: the field, its arguments and directives. */
  own: Amount;
  /** Null if it is no list. */
  size: Amount | null;
  /** Of what it returns; an abstract type weighs as much as the dearest of its members. */
  typeWeight: number;
  /** The step of the selection in it; null for a leaf. */
  inner: number | null;
};

/** What a selection selects of one object type. */
export type Alternative = readonly Term[];

/** A selection with its possible types. */
export type Step = {
  alternatives: readonly Alternative[];
  /** Null if they depend on variables. */
  costs: Costs | null;
};

export type Program = {
  /** Each after those in it; the operation's own selection is the last. */
  steps: readonly Step[];
  rootWeight: number;
  amounts: readonly DynamicAmount[];
};

/** In thousandths of a point. */
export type Costs = {
  fieldCost: number;
  typeCost: number;
  /** Whether the size of all lists that cost anything is known. */
  isBounded: boolean;
};

export type Evaluated = {
  total: Costs;
  costsOf: (step: number) => Costs;
  valueOf: (amount: Amount) => number;
};

export function valueOfAmount(amount: Amount, values: readonly number[]): number {
  return typeof amount === 'number' ? amount : (values[amount.index] as number);
}

/** The next step of a program, with its costs if they don't depend on variables. */
export function stepOf(steps: readonly Step[], alternatives: readonly Alternative[]): Step {
  const isStatic = alternatives.every((terms) =>
    terms.every(
      ({ own, size, inner }) =>
        typeof own === 'number' &&
        (size === null || typeof size === 'number') &&
        (inner === null || steps[inner]?.costs !== null),
    ),
  );
  if (!isStatic) return { alternatives, costs: null };
  return { alternatives, costs: costsOfStep(alternatives, (step) => steps[step]?.costs as Costs, []) };
}

/** @throws {NoPrice} */
export function evaluate({ steps, rootWeight, amounts }: Program, variables: Variables): Evaluated {
  const values: number[] = [];
  for (const amount of amounts) values.push(amount(variables, values));
  const costs: Costs[] = [];
  const costsOf = (step: number) => costs[step] as Costs;
  for (const step of steps) costs.push(step.costs ?? costsOfStep(step.alternatives, costsOf, values));
  const operation = costsOf(steps.length - 1);
  return {
    total: { ...operation, typeCost: plus(operation.typeCost, rootWeight) },
    costsOf,
    valueOf: (amount) => valueOfAmount(amount, values),
  };
}

/** Each cost is the maximum by itself, as the specification defines them. */
function costsOfStep(
  alternatives: readonly Alternative[],
  costsOf: (step: number) => Costs,
  values: readonly number[],
): Costs {
  const most: Costs = { fieldCost: 0, typeCost: 0, isBounded: true };
  for (const terms of alternatives) {
    let fields = 0;
    let types = 0;
    for (const { own, size, typeWeight, inner } of terms) {
      const below = inner === null ? NOTHING : costsOf(inner);
      const typeCost = plus(typeWeight, below.typeCost);
      const items = size === null ? 1 : valueOfAmount(size, values);
      const count = countOf(items);
      fields = plus(fields, plus(valueOfAmount(own, values), times(count, below.fieldCost)));
      types = plus(types, times(count, typeCost));
      const isFree = below.fieldCost + typeCost === 0;
      if ((!isKnownSize(items) && !isFree) || (count > 0 && !below.isBounded)) most.isBounded = false;
    }
    most.fieldCost = Math.max(most.fieldCost, fields);
    most.typeCost = Math.max(most.typeCost, types);
  }
  return most;
}

const NOTHING: Costs = { fieldCost: 0, typeCost: 0, isBounded: true };
