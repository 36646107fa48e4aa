import type { Input, SizeRule } from '../schema/cost-schema.ts';
import { MAX_COUNT } from '../thousandths.ts';
import { NoPrice } from './no-price.ts';
import { VariableReference } from './written-value.ts';

/** The values of a call's variables; undefined for one that has neither a value nor a default. */
export type Variables = {
  valueOf: (name: string) => unknown;
  /** Counts one step of work. @throws {NoPrice} too_complex when there were too many */
  step: () => void;
};

export type Inputs = ReadonlyMap<string, Input>;
export type Given = Readonly<Record<string, unknown>>;

const MAX_DEPTH = 100;

/** What arguments or input fields weigh that are given or have a default. @throws {NoPrice} */
export function costOfInputs(inputs: Inputs, given: Given, variables: Variables, depth = 0): number {
  if (depth > MAX_DEPTH) throw tooDeep();
  let cost = 0;
  for (const [name, input] of inputs) {
    if (!input.weighs) continue;
    variables.step();
    const value = valueOf(input, name, given, variables);
    if (value !== undefined) cost += input.weight + costOfValue(input, value, variables, depth);
  }
  return cost;
}

/** A list counts once, and the fields of each object in it, also in lists of lists. */
function costOfValue(input: Input, value: unknown, variables: Variables, depth: number): number {
  const { type, isList } = input;
  if (type.kind === 'leaf' || value === null) return 0;
  if (isList && Array.isArray(value)) {
    if (depth > MAX_DEPTH) throw tooDeep();
    let cost = 0;
    for (const element of value as unknown[]) {
      variables.step();
      cost += costOfValue(input, resolved(element, variables) ?? null, variables, depth + 1);
    }
    return cost;
  }
  return costOfInputs(type.fields, asObject(value), variables, depth + 1);
}

/** An unknown size is below 0, with the items to count instead. */
export function unknownSize(count: number): number {
  return -1 - count;
}

export function isKnownSize(size: number): boolean {
  return size >= 0;
}

export function countOf(size: number): number {
  return size < 0 ? -1 - size : size;
}

/** The larger size; unknown if one of both is. */
export function largerSize(a: number, b: number): number {
  const count = Math.max(countOf(a), countOf(b));
  return isKnownSize(a) && isKnownSize(b) ? count : unknownSize(count);
}

/** The items of a list by its rule and arguments. */
export function sizeOf(
  rule: Pick<SizeRule, 'slicing' | 'assumed'>,
  inputs: Inputs,
  given: Given,
  { variables, listSize }: { variables: Variables; listSize: number },
): number {
  let largest: number | null = null;
  let isNegative = false;
  for (const path of rule.slicing) {
    const count = itemsOf(inputs, given, path, variables);
    if (count === null) continue;
    if (count < 0) isNegative = true;
    else largest = Math.max(largest ?? 0, count);
  }
  // Servers read a negative size as they like, some as no limit.
  if (isNegative) return unknownSize(Math.max(largest ?? 0, rule.assumed ?? listSize));
  return largest ?? rule.assumed ?? unknownSize(listSize);
}

/** Null if the value at the path doesn't tell. */
function itemsOf(
  inputs: Inputs,
  given: Given,
  [name = '', ...rest]: readonly string[],
  variables: Variables,
): number | null {
  const input = inputs.get(name);
  if (input === undefined) return null;
  const value = valueOf(input, name, given, variables);
  if (rest.length === 0) return input.isList ? lengthOf(value) : numberOf(value);
  return input.type.kind === 'input' && isObject(value)
    ? itemsOf(input.type.fields, value, rest, variables)
    : null;
}

/** A single value is read as a list of one (GraphQL, section 3.11). */
function lengthOf(value: unknown): number | null {
  if (value === undefined || value === null) return null;
  return Array.isArray(value) ? value.length : 1;
}

/** JSON.isRawJSON (ECMAScript 2026) is newer than TypeScript's library. */
const { isRawJSON } = JSON as unknown as { isRawJSON: (value: unknown) => value is { rawJSON: string } };

const NUMERIC = /^\s*[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?\s*$/i;

/** Digits in a string count as their number, as lenient servers read them. */
function numberOf(value: unknown): number | null {
  const written = isRawJSON(value) ? value.rawJSON : value;
  const isNumeric = typeof written === 'number' || (typeof written === 'string' && NUMERIC.test(written));
  if (!isNumeric) return null;
  const number = Number(written);
  return number < 0 ? -1 : Math.min(Math.ceil(number), MAX_COUNT);
}

function tooDeep(): NoPrice {
  return new NoPrice('too_complex', 'An input value is nested too deep.');
}

function valueOf(input: Input, name: string, given: Given, variables: Variables): unknown {
  const value = Object.hasOwn(given, name) ? resolved(given[name], variables) : undefined;
  return value === undefined ? input.default : value;
}

function resolved(value: unknown, variables: Variables): unknown {
  return value instanceof VariableReference ? variables.valueOf(value.name) : value;
}

function isObject(value: unknown): value is Given {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function asObject(value: unknown): Given {
  if (isObject(value)) return value;
  throw new NoPrice('invalid', 'An input object is given as another value.');
}
