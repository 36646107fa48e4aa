import { valueFromASTUntyped } from 'graphql';
import type { ConstDirectiveNode } from 'graphql';
import { parseWeight } from '../thousandths.ts';
import type { StatedCosts, StatedSize } from './costs-file.ts';
import type { Field, Input, InputType, Leaf, OutputType, SizeRule } from './cost-schema.ts';
import type { DirectiveNames } from './directive-names.ts';

/** What directives and the file of weights state, by schema coordinate. Faults and warnings add up. */
export type Stated = ReturnType<typeof createStatedCosts>;

type Directives = readonly ConstDirectiveNode[];

export function createStatedCosts(names: DirectiveNames, file: StatedCosts) {
  const faults: string[] = [];
  const warnings: string[] = [];
  const weightsLeft = new Set(file.weights.keys());
  const sizesLeft = new Set(file.listSizes.keys());

  function writtenWeight(coordinate: string, directives: Directives): string | undefined {
    const stated = file.weights.get(coordinate);
    weightsLeft.delete(coordinate);
    if (stated !== undefined) return stated;
    const cost = argumentsOf(directives, names.cost);
    return cost === undefined ? undefined : String(cost['weight']);
  }

  function writtenSize(coordinate: string, directives: Directives): StatedSize | undefined {
    const stated = file.listSizes.get(coordinate);
    sizesLeft.delete(coordinate);
    return stated ?? argumentsOf(directives, names.listSize);
  }

  return {
    faults: faults as readonly string[],
    warnings: warnings as readonly string[],

    /** In thousandths; undefined if it isn't stated. */
    weight: (coordinate: string, directives: Directives, mayBeNegative: boolean): number | undefined => {
      const written = writtenWeight(coordinate, directives);
      if (written === undefined) return undefined;
      const weight = parseWeight(written);
      if (weight === null) {
        faults.push(`${coordinate}: the weight ${written} is not a number with at most three decimal places`);
      } else if (weight < 0 && !mayBeNegative) {
        faults.push(
          `${coordinate}: the weight ${written} is negative, which only arguments and input fields may be`,
        );
      }
      return weight ?? 0;
    },

    size: (coordinate: string, directives: Directives, field: Field): SizeRule | null => {
      const written = writtenSize(coordinate, directives);
      if (written === undefined) return null;
      const rule: SizeRule = {
        slicing: listed(written.slicingArguments).map((path) => path.split('.')),
        assumed: written.assumedSize ?? null,
        sized: listed(written.sizedFields).map((path) =>
          path
            .trim()
            .split(/[{}\s.]/)
            .filter(Boolean),
        ),
      };
      if (rule.assumed !== null && !(Number.isInteger(rule.assumed) && rule.assumed >= 0)) {
        faults.push(`${coordinate}: assumedSize must be a whole number from 0`);
      }
      for (const path of rule.slicing) {
        if (!isInputPath(field.arguments, path))
          faults.push(`${coordinate}: slicingArguments names no argument: ${path.join('.')}`);
      }
      for (const path of rule.sized) {
        if (!isListPath(field.type, path))
          faults.push(`${coordinate}: sizedFields names no list: ${path.join('.')}`);
      }
      if (rule.sized.length === 0 && !field.isList) {
        faults.push(`${coordinate}: a field that is no list needs sizedFields`);
      }
      return rule;
    },

    /** What stands where it has no meaning. */
    ignore: (coordinate: string, directives: Directives): void => {
      const isStated = writtenWeight(coordinate, directives) !== undefined;
      const isSized = writtenSize(coordinate, directives) !== undefined;
      if (isStated || isSized) {
        warnings.push(
          `${coordinate}: costs of interfaces and unions are ignored; state them of object types`,
        );
      }
    },

    /** Names that only the file has. */
    unused: (): string[] => [...new Set([...weightsLeft, ...sizesLeft])],
  };
}

function argumentsOf(directives: Directives, name: string): Record<string, unknown> | undefined {
  const directive = directives.find((each) => each.name.value === name);
  if (directive === undefined) return undefined;
  const entries =
    directive.arguments?.map((each) => [each.name.value, valueFromASTUntyped(each.value)]) ?? [];
  // An explicit null states nothing.
  return Object.fromEntries(entries.filter(([, value]) => value !== null)) as Record<string, unknown>;
}

/** GraphQL takes a single value for a list of one. */
function listed(names: readonly string[] | string | undefined): readonly string[] {
  return typeof names === 'string' ? [names] : (names ?? []);
}

/** Whether each name but the last leads to an input object. */
function isInputPath(inputs: ReadonlyMap<string, Input>, path: readonly string[]): boolean {
  const [name = '', ...rest] = path;
  const input = inputs.get(name);
  if (input === undefined) return false;
  const { type }: { type: Leaf | InputType } = input;
  return rest.length === 0 || (type.kind === 'input' && isInputPath(type.fields, rest));
}

/** Of an abstract type, it is enough that one of its members has the list. */
function isListPath(type: OutputType, path: readonly string[]): boolean {
  const [name = '', ...rest] = path;
  if (type.kind === 'leaf') return false;
  const members = type.kind === 'object' ? [type] : [...type.members];
  return members.some((member) => {
    const field = member.fields.get(name);
    if (field === undefined) return false;
    return rest.length === 0 ? field.isList : isListPath(field.type, rest);
  });
}
