import type { FieldNode, OperationDefinitionNode, SelectionSetNode } from 'graphql';
import type { CompositeType, ObjectType } from '../schema/cost-schema.ts';
import { createAmounts } from './amounts.ts';
import { createCollectFields } from './collect-fields.ts';
import type { CollectOptions } from './collect-fields.ts';
import { createFieldCalls } from './field-calls.ts';
import type { FieldCall, Sized } from './field-calls.ts';
import { isKnownSize, largerSize } from './inputs.ts';
import { NoPrice } from './no-price.ts';
import { stepOf } from './program.ts';
import type { Amount, Program, Step, Term } from './program.ts';

export type CompileOptions = CollectOptions & { operation: OperationDefinitionNode };

/** Compiling takes a few milliseconds at most. */
const MAX_STEPS = 10_000;
const MAX_DEPTH = 250;

const UNDER_WAY = -1;

/**
 * Compiles an operation to what of its price depends on variables. Fields that execution merges are priced once. Each
 * set of selections that is merged is compiled once per type, because expanding fragments could take exponential time.
 * @throws {NoPrice}
 */
export function compileOperation(options: CompileOptions): Program {
  const { schema, operation } = options;
  const steps: Step[] = [];
  const compiled = new Map<string, number>();
  const ids = new Map<SelectionSetNode, number>();
  let stepsLeft = MAX_STEPS;
  const spend = () => {
    stepsLeft -= 1;
    if (stepsLeft < 0) throw tooComplex();
  };
  const amounts = createAmounts(spend);
  const calls = createFieldCalls(schema, amounts, spend);
  const collect = createCollectFields(options, spend);

  function keyOf(sets: readonly SelectionSetNode[], type: CompositeType, sized: readonly Sized[]): string {
    const setIds = sets.map((set) => {
      const id = ids.get(set) ?? ids.size;
      ids.set(set, id);
      return id;
    });
    const key = `${type.name} ${setIds.length === 1 ? String(setIds[0]) : setIds.sort((a, b) => a - b).join()}`;
    if (sized.length === 0) return key;
    return [key, ...sized.map(({ path, size }) => `${path.join('.')}=${JSON.stringify(size)}`)].join(' ');
  }

  function sizeOf(name: string, { size: own }: FieldCall, sized: readonly Sized[]): Amount | null {
    if (own === null) return null;
    return sized
      .filter(({ path }) => path.length === 1 && path[0] === name)
      .reduce<Amount>(
        (size, stated) =>
          amounts.combine(stated.size, size, (above, here) =>
            isKnownSize(above) ? above : largerSize(above, here),
          ),
        own,
      );
  }

  function termOf(
    responseKey: string,
    nodes: readonly [FieldNode, ...FieldNode[]],
    { object, sized, depth }: { object: ObjectType; sized: readonly Sized[]; depth: number },
  ): Term | null {
    const name = nodes[0].name.value;
    if (name === '__typename') return null;
    if (object === schema.roots.query && (name === '__schema' || name === '__type')) return null;
    const field = object.fields.get(name);
    if (field === undefined) throw new NoPrice('invalid', `${object.name} has no field ${name}.`, nodes[0]);
    const other = nodes.find((node) => node.name.value !== name);
    if (other !== undefined)
      throw new NoPrice('invalid', `${responseKey} is selected as different fields.`, other);
    const call = nodes.map((node) => calls.of(node, field)).reduce(calls.merge);
    const { type } = field;
    const term = { responseKey, own: call.own, size: sizeOf(name, call, sized), typeWeight: type.weight };
    if (type.kind === 'leaf') return Object.assign(term, { inner: null });
    const below = sized
      .filter(({ path }) => path.length > 1 && path[0] === name)
      .map(({ path, size }) => ({ path: path.slice(1), size }));
    const sets = nodes.map((node) => {
      if (node.selectionSet !== undefined) return node.selectionSet;
      throw new NoPrice('invalid', `${object.name}.${name} needs a selection of fields.`, node);
    });
    return Object.assign(term, { inner: select(sets, type, call.sized.concat(below), depth + 1) });
  }

  /** The step of merged selections of one type. */
  function select(
    sets: readonly SelectionSetNode[],
    type: CompositeType,
    sized: readonly Sized[],
    depth: number,
  ): number {
    const key = keyOf(sets, type, sized);
    const known = compiled.get(key);
    if (known === UNDER_WAY) throw new NoPrice('invalid', 'Fragments form a cycle.');
    if (known !== undefined) return known;
    if (depth > MAX_DEPTH) throw tooComplex();
    compiled.set(key, UNDER_WAY);
    const members = type.kind === 'object' ? [type] : [...type.members];
    const alternatives = members.map((object) => {
      const terms: Term[] = [];
      for (const [responseKey, nodes] of collect(sets, object)) {
        const term = termOf(responseKey, nodes, { object, sized, depth });
        if (term !== null) terms.push(term);
      }
      return terms;
    });
    const index = steps.push(stepOf(steps, alternatives)) - 1;
    compiled.set(key, index);
    return index;
  }

  const root = schema.roots[operation.operation];
  if (root === undefined)
    throw new NoPrice('invalid', `The schema has no ${operation.operation}.`, operation);
  select([operation.selectionSet], root, [], 0);
  return { steps, rootWeight: root.weight, amounts: amounts.dynamic };
}

function tooComplex(): NoPrice {
  return new NoPrice('too_complex', 'The document is too complex to be priced.');
}
