import type { FieldNode } from 'graphql';
import type { CostSchema, Field, Input } from '../schema/cost-schema.ts';
import type { Amounts } from './amounts.ts';
import { costOfInputs, largerSize, sizeOf, unknownSize } from './inputs.ts';
import type { Given } from './inputs.ts';
import { NoPrice } from './no-price.ts';
import type { Amount } from './program.ts';
import { writtenValue } from './written-value.ts';

/** A list below a field that has the size of that field's arguments (`sizedFields`). */
export type Sized = { path: readonly string[]; size: Amount };

/** What a field costs with its arguments and directives, and how many items it returns. */
export type FieldCall = {
  own: Amount;
  /** Null if it is no list. */
  size: Amount | null;
  sized: readonly Sized[];
};

/** Reads each field of a document once. @throws {NoPrice} */
export function createFieldCalls(schema: CostSchema, amounts: Amounts, step: () => void) {
  const calls = new Map<FieldNode, Map<Field, FieldCall>>();
  const plainCalls = new Map<Field, FieldCall>();

  function read(node: FieldNode, field: Field): FieldCall {
    const { given, hasVariables } = givenOf(node.arguments, field.arguments, step);
    const directives = (node.directives ?? []).flatMap(({ name, arguments: args }) => {
      const inputs = schema.directives.get(name.value);
      const weighs = inputs !== undefined && [...inputs.values()].some((input) => input.weighs);
      return weighs ? [{ inputs, ...givenOf(args, inputs, step) }] : [];
    });
    const isWeighing = [...field.arguments.values()].some(({ weighs }) => weighs);
    const isDynamic = (hasVariables && isWeighing) || directives.some((each) => each.hasVariables);
    const own = amounts.of(isDynamic, (variables) => {
      let sum = field.weight + costOfInputs(field.arguments, given, variables);
      for (const each of directives) sum += costOfInputs(each.inputs, each.given, variables);
      return Math.max(sum, 0);
    });
    const { listSize } = schema;
    const { size: rule } = field;
    const unstated = field.isList ? unknownSize(listSize) : null;
    if (rule === null) return { own, size: unstated, sized: [] };
    const size = amounts.of(hasVariables, (variables) =>
      sizeOf(rule, field.arguments, given, { variables, listSize }),
    );
    return rule.sized.length === 0
      ? { own, size, sized: [] }
      : { own, size: unstated, sized: rule.sized.map((path) => ({ path, size })) };
  }

  return {
    of: (node: FieldNode, field: Field): FieldCall => {
      if (!node.arguments?.length && !node.directives?.length) {
        const plain = plainCalls.get(field) ?? read(node, field);
        plainCalls.set(field, plain);
        return plain;
      }
      const ofNode = calls.get(node) ?? new Map<Field, FieldCall>();
      const call = ofNode.get(field) ?? read(node, field);
      calls.set(node, ofNode.set(field, call));
      return call;
    },

    /** Fields that execution merges have the same arguments, unless the document is invalid. */
    merge: (a: FieldCall, b: FieldCall): FieldCall =>
      a === b
        ? a
        : {
            own: amounts.combine(a.own, b.own, Math.max),
            size: a.size === null || b.size === null ? null : amounts.combine(a.size, b.size, largerSize),
            sized: a.sized.concat(b.sized),
          },
  };
}

/** Arguments as they are written. @throws {NoPrice} invalid if one doesn't exist */
function givenOf(
  nodes: FieldNode['arguments'],
  inputs: ReadonlyMap<string, Input>,
  step: () => void,
): { given: Given; hasVariables: boolean } {
  const given: Record<string, unknown> = {};
  let hasVariables = false;
  for (const { name, value } of nodes ?? []) {
    step();
    if (!inputs.has(name.value)) throw new NoPrice('invalid', `There is no argument ${name.value}.`);
    // Servers that don't refuse that differ in which they take.
    if (Object.hasOwn(given, name.value))
      throw new NoPrice('invalid', `The argument ${name.value} is repeated.`);
    const written = writtenValue(value);
    given[name.value] = written.value;
    hasVariables ||= written.hasVariables;
  }
  return { given, hasVariables };
}
