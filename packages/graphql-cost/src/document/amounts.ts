import type { Variables } from './inputs.ts';
import { valueOfAmount } from './program.ts';
import type { Amount, DynamicAmount } from './program.ts';

/** The amounts of a program that is being compiled. */
export type Amounts = {
  dynamic: readonly DynamicAmount[];
  /** Computed at once if it has no variables. */
  of: (hasVariables: boolean, amount: (variables: Variables) => number) => Amount;
  combine: (a: Amount, b: Amount, choose: (a: number, b: number) => number) => Amount;
};

export function createAmounts(step: () => void): Amounts {
  const dynamic: DynamicAmount[] = [];
  const noVariables: Variables = { valueOf: () => undefined, step };
  const add = (amount: DynamicAmount): Amount => ({ index: dynamic.push(amount) - 1 });
  return {
    dynamic,
    of: (hasVariables, amount) => (hasVariables ? add(amount) : amount(noVariables)),
    combine: (a, b, choose) => {
      if (a === b) return a;
      if (typeof a === 'number' && typeof b === 'number') return choose(a, b);
      return add((_variables, values) => choose(valueOfAmount(a, values), valueOfAmount(b, values)));
    },
  };
}
