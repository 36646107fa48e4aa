import { toPoints } from '../thousandths.ts';
import type { CostSchema, Input } from './cost-schema.ts';

/** What the parts of a schema weigh, by their coordinates. */
export type EffectiveCosts = {
  /** In points; what isn't here weighs nothing. */
  weights: Record<string, number>;
  /** Of fields with a rule; other lists count `list_size` items. */
  list_sizes: Record<string, StatedListSize>;
  /** Items of a list whose size nothing tells. */
  list_size: number;
};

export type StatedListSize = {
  /** The largest of these is the size. */
  slicing_arguments: readonly string[];
  /** Without them; null for `list_size`. */
  assumed_size: number | null;
  /** The lists below the field that have the size, instead of the field. */
  sized_fields: readonly string[];
};

export function effectiveCosts({ types, inputTypes, directives, listSize }: CostSchema): EffectiveCosts {
  const weights: Record<string, number> = {};
  const sizes: Record<string, StatedListSize> = {};
  const add = (coordinate: string, weight: number) => {
    if (weight !== 0) weights[coordinate] = toPoints(weight);
  };
  const addInputs = (inputs: ReadonlyMap<string, Input>, coordinateOf: (name: string) => string) => {
    for (const [name, { weight }] of inputs) add(coordinateOf(name), weight);
  };
  for (const type of types.values()) {
    add(type.name, type.weight);
    if (type.kind !== 'object') continue;
    for (const [name, field] of type.fields) {
      const coordinate = `${type.name}.${name}`;
      add(coordinate, field.weight);
      addInputs(field.arguments, (argument) => `${coordinate}(${argument}:)`);
      if (field.size === null) continue;
      const { slicing, assumed, sized } = field.size;
      sizes[coordinate] = {
        slicing_arguments: slicing.map((path) => path.join('.')),
        assumed_size: assumed,
        sized_fields: sized.map((path) => path.join('.')),
      };
    }
  }
  for (const [name, type] of inputTypes)
    if (type.kind === 'input') addInputs(type.fields, (field) => `${name}.${field}`);
  for (const [name, inputs] of directives) addInputs(inputs, (argument) => `@${name}(${argument}:)`);
  return { weights, list_sizes: sizes, list_size: listSize };
}
