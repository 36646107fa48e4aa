import { parse } from 'graphql';
import type { DocumentNode } from 'graphql';
import type { CostSchema } from '../schema/cost-schema.ts';
import { plus, toPoints, toWholePoints } from '../thousandths.ts';
import { compileOperation } from './compile-operation.ts';
import { dearestFields } from './dearest-fields.ts';
import type { FieldCost } from './dearest-fields.ts';
import type { Variables } from './inputs.ts';
import { NoPrice } from './no-price.ts';
import { conditionVariables, declaredBy, fragmentsOf, operationsOf, variableValues } from './operations.ts';
import type { Declared } from './operations.ts';
import { evaluate } from './program.ts';
import type { Costs, Program } from './program.ts';

export type Price = {
  /** The sum of both costs, rounded up; at least 1. */
  points: number;
  isBounded: boolean;
  /** In points, with their fractions (IBM's GraphQL Cost Directives specification). */
  fieldCost: number;
  typeCost: number;
};

/** What a request states beside its document, as parsed from JSON. */
export type PricedRequest = { operationName?: unknown; variables?: unknown };

/** Keeps no syntax trees once an operation is priced: they take 29 times the memory of their text. */
export type PricedDocument = {
  /** Of the operation that a server would run; of several that could be meant, the dearest. @throws {NoPrice} */
  price: (request: PricedRequest) => Price;
  /** The fields that cost most by themselves. Reads the document again. @throws {NoPrice} */
  dearest: (request: PricedRequest, count: number) => FieldCost[];
};

/** Evaluating what depends on variables takes a few milliseconds at most. */
const MAX_STEPS = 50_000;
/** Of one operation, for different values of the variables in `@skip` and `@include`. */
const MAX_COMPILED = 8;

/** Servers refuse a request that could mean several operations, and each takes steps of its own. */
const MAX_MEANT = 4;

/** Costs that don't depend on variables, a program for those that do, or why there are none. */
type Compiled = Costs | Program | NoPrice;

/** `document` is what `text` parses to. */
export function priceDocument(schema: CostSchema, text: string, document: DocumentNode): PricedDocument {
  const conditionNames = conditionVariables(document);
  const operations = operationsOf(document).map(declaredBy);
  const compiled = operations.map(() => new Map<string, Compiled>());
  let unread: DocumentNode | null = document;

  function compile(index: number, conditions: ReadonlyMap<string, boolean>): Program {
    const tree = unread ?? parse(text, { noLocation: true });
    unread = null;
    const operation = operationsOf(tree)[index];
    if (operation === undefined) throw new Error('the text has not the operations of its document');
    return compileOperation({ schema, fragments: fragmentsOf(tree), operation, conditions });
  }

  function compiledOf(index: number, conditions: ReadonlyMap<string, boolean>): Compiled {
    const known = compiled[index] ?? new Map<string, Compiled>();
    const key = [...conditions].join();
    const before = known.get(key);
    if (before !== undefined) return before;
    if (known.size >= MAX_COMPILED) known.clear();
    const result = compileOnce(() => compile(index, conditions));
    // Selections of types with many members have many terms for a short text.
    if (termsIn(result) <= text.length) known.set(key, result);
    return result;
  }

  function variablesOf(index: number, { variables }: PricedRequest): Variables {
    let stepsLeft = MAX_STEPS;
    return {
      valueOf: variableValues(operations[index] as Declared, variables),
      step: () => {
        stepsLeft -= 1;
        if (stepsLeft < 0) throw new NoPrice('too_complex', 'The variables are too large to be priced.');
      },
    };
  }

  function conditionsOf({ valueOf }: Variables): Map<string, boolean> {
    const values = new Map<string, boolean>();
    for (const name of conditionNames) {
      const value = valueOf(name);
      if (typeof value === 'boolean') values.set(name, value);
    }
    return values;
  }

  function costsOf(index: number, request: PricedRequest): Costs {
    const variables = variablesOf(index, request);
    const result = compiledOf(index, conditionsOf(variables));
    if (result instanceof NoPrice) throw result;
    return 'steps' in result ? evaluate(result, variables).total : result;
  }

  /** The operations that could be meant. An empty name is none (GraphQL over HTTP). */
  function meant({ operationName }: PricedRequest): readonly number[] {
    const all = [...operations.keys()];
    const named = all.filter((index) => {
      const name = operations[index]?.name;
      return name !== undefined && name === operationName;
    });
    if (all.length === 0) throw new NoPrice('invalid', 'The document has no operation.');
    const several = named.length > 0 ? named : all;
    if (several.length > MAX_MEANT) throw new NoPrice('too_complex', 'Too many operations could be meant.');
    return several;
  }

  function dearestOf(request: PricedRequest): { index: number; costs: Costs } {
    const [first, ...others] = meant(request).map((index) => ({ index, costs: costsOf(index, request) }));
    const sum = ({ costs }: { costs: Costs }) => costs.fieldCost + costs.typeCost;
    return others.reduce(
      (most, each) => (sum(each) > sum(most) ? each : most),
      first as NonNullable<typeof first>,
    );
  }

  return {
    price: (request) => {
      const { fieldCost, typeCost, isBounded } = dearestOf(request).costs;
      return {
        points: Math.max(toWholePoints(plus(fieldCost, typeCost)), 1),
        isBounded,
        fieldCost: toPoints(fieldCost),
        typeCost: toPoints(typeCost),
      };
    },
    dearest: (request, count) => {
      const { index } = dearestOf(request);
      const variables = variablesOf(index, request);
      const program = compile(index, conditionsOf(variables));
      return dearestFields(program, evaluate(program, variables), count);
    },
  };
}

function termsIn(compiled: Compiled): number {
  if (!('steps' in compiled)) return 0;
  return compiled.steps
    .flatMap(({ alternatives }) => alternatives)
    .reduce((sum, { length }) => sum + length, 0);
}

function compileOnce(compile: () => Program): Compiled {
  try {
    const program = compile();
    return program.amounts.length > 0 ? program : evaluate(program, NO_VARIABLES).total;
  } catch (error) {
    if (error instanceof NoPrice) return error;
    throw error;
  }
}

const NO_VARIABLES: Variables = { valueOf: () => undefined, step: () => undefined };
