import type { components } from '../../../api/schema.d.ts';
import { counted, formatNumber } from '../../../ui/format.ts';
import type { SchemaTexts, TypeTexts } from './fields.ts';

/** What the data endpoint tells of its schema (docs/guides/price-of-a-query.md). */
export type SchemaCosts = components['schemas']['SchemaCosts'];

type Field = TypeTexts['fields'][number];

/** What parts of the schema cost, in words. */
export type CostTexts = {
  /** Of one object, or one value of a scalar or enum; null if it costs nothing, or has no such figure. */
  ofType: (type: TypeTexts) => string | null;
  /** The first line is what it costs, and further ones tell what that depends on; none where it depends on the object. */
  ofField: (type: TypeTexts, field: Field) => readonly string[];
};

export function costTexts(costs: SchemaCosts, { types }: Pick<SchemaTexts, 'types'>): CostTexts {
  const { weights, list_sizes: sizes, list_size: listSize } = costs;
  const kinds = new Map(types.map(({ name, kind }) => [name, kind]));
  const sizedElsewhere = new Set(
    Object.values(sizes).flatMap(({ sized_fields: paths }) => paths.map(lastName)),
  );
  const weightOf = (coordinate: string) => weights[coordinate] ?? 0;

  function ownCost(field: Field, weight: number): string {
    const each = weightOf(field.type.name);
    if (each === 0) return points(weight);
    if (!isList(field)) return points(weight + each);
    const ofItems = `${points(each)} for each ${field.type.name}`;
    return weight === 0 ? ofItems : `${points(weight)}, and ${ofItems}`;
  }

  function itemsOf(field: Field, coordinate: string): string[] {
    const size = sizes[coordinate];
    if (size === undefined) {
      // The number of values that cost nothing says nothing.
      const isFree = kinds.get(field.type.name) === 'leaf' && weightOf(field.type.name) === 0;
      if (!isList(field) || isFree) return [];
      const known = sizedElsewhere.has(field.name) ? 'as a field above it says, else' : 'counted as';
      return [`List length: ${known} ${formatNumber(listSize)}`];
    }
    const { slicing_arguments: slicing, assumed_size: assumed, sized_fields: sized } = size;
    const without = formatNumber(assumed ?? listSize);
    const otherwise = isAlwaysGiven(field, slicing) ? '' : `, else ${without}`;
    const [only, another] = slicing;
    const length = another === undefined ? only : `the largest of ${slicing.join(', ')}`;
    const of = sized.length === 0 ? '' : ` of ${sized.map(lastName).join(', ')}`;
    return [`List length${of}: ${length === undefined ? without : length + otherwise}`];
  }

  return {
    ofType: ({ name, kind }) => {
      const weight = weightOf(name);
      if (weight === 0 || kind === 'input') return null;
      return kind === 'abstract' ? `Up to ${points(weight)} each` : `${points(weight)} each`;
    },
    ofField: (type, field) => {
      if (type.kind === 'abstract') return [];
      const coordinate = `${type.name}.${field.name}`;
      const weight = weightOf(coordinate);
      if (type.kind === 'input') return weight === 0 ? [] : [points(weight)];
      const args = field.args.flatMap(({ name }) => {
        const own = weightOf(`${coordinate}(${name}:)`);
        return own === 0 ? [] : [`With ${name}: ${own > 0 ? '+' : '−'}${points(Math.abs(own))}`];
      });
      return [ownCost(field, weight), ...itemsOf(field, coordinate), ...args];
    },
  };
}

/** Whether one of these arguments has a value in each call. */
function isAlwaysGiven({ args }: Field, slicing: readonly string[]): boolean {
  return args.some(
    ({ name, type, default: value }) => slicing.includes(name) && (type.text.endsWith('!') || value !== null),
  );
}

function isList({ type }: Field): boolean {
  return type.text.includes('[');
}

/** Of a path such as `results { page }`. */
function lastName(path: string): string {
  return path.split('.').at(-1) ?? path;
}

function points(count: number): string {
  // Sums of thousandths.
  return counted(Math.round(count * 1_000) / 1_000, 'point');
}
