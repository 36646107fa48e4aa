import type { Draw } from './draw.ts';

/** Fields have one name for each kind, so that what two types have in common can be merged. */
type Field = { name: string; kind: 'scalar' | 'object' | 'list' | 'edges'; type: string };

/** `types` are those that fields return: objects, the interface, the union, connections. */
export type GeneratedSchema = {
  sdl: string;
  types: ReadonlyMap<string, readonly Field[]>;
  objects: string[];
};

const DIRECTIVES = `
directive @cost(weight: String!) on ARGUMENT_DEFINITION | ENUM | FIELD_DEFINITION | INPUT_FIELD_DEFINITION | OBJECT | SCALAR
directive @listSize(assumedSize: Int, slicingArguments: [String!], sizedFields: [String!], requireOneSlicingArgument: Boolean = true) on FIELD_DEFINITION
scalar Dear @cost(weight: "3")
enum Order @cost(weight: "2") { ASC DESC }
input Filter { name: String @cost(weight: "1") less: Boolean @cost(weight: "-4") and: [Filter!] order: Order }
`;
const ARGUMENTS = '(first: Int, last: Int = 3, filter: Filter, cheap: Boolean @cost(weight: "-2"))';
const WEIGHTS = ['0', '1', '2.5', '0.25', '5', '40'] as const;

/**
 * A schema of objects, an interface, a union and a connection. Without the known differences (docs/design/price.md): no
 * list is sized by a nested argument, and what sizes a list below a field always tells.
 */
export function newSchema(draw: Draw): GeneratedSchema {
  const objects = Array.from({ length: 2 + draw.below(3) }, (_, index) => `T${String(index)}`);
  const types = new Map<string, readonly Field[]>();
  const abstract: Field[] = [{ name: 's0', kind: 'scalar', type: 'Int' }];
  const targets = () => draw.of(['I', 'U', 'C', ...objects] as [string, ...string[]]);
  const lines: string[] = [DIRECTIVES, 'interface I { s0: Int }', `union U = ${objects.join(' | ')}`];

  function fieldLine({ name, kind, type }: Field): string {
    const arguments_ = kind === 'object' || kind === 'list' ? ARGUMENTS : '';
    const isList = kind === 'list' || kind === 'edges';
    const result = isList ? `[${type}]` : type;
    const sizes = isList || type === 'C' ? size(arguments_ !== '', isList ? '' : 'edges') : '';
    return `  ${name}${arguments_}: ${result}${cost(30)}${sizes}`;
  }

  function cost(percent: number): string {
    return draw.chance(percent) ? ` @cost(weight: "${draw.of(WEIGHTS)}")` : '';
  }

  function size(hasArguments: boolean, sized: string): string {
    const slicing = hasArguments && (sized !== '' || draw.chance(60));
    const parts = [
      ...(sized !== '' || draw.chance(50) ? [`assumedSize: ${String(draw.below(20))}`] : []),
      ...(slicing ? [`slicingArguments: ${draw.of(['["first"]', '["last"]', '["first", "last"]'])}`] : []),
      ...(sized === '' ? [] : [`sizedFields: ["${sized}"]`]),
      'requireOneSlicingArgument: false',
    ];
    return draw.chance(85) ? ` @listSize(${parts.join(', ')})` : '';
  }

  function addType(name: string, fields: readonly Field[], implemented = ''): void {
    types.set(name, fields);
    lines.push(
      `type ${name}${implemented}${name === 'Query' ? '' : cost(40)} {`,
      ...fields.map(fieldLine),
      '}',
    );
  }

  types.set('I', abstract);
  types.set('U', []);
  for (const name of objects) {
    const own: Field[] = [
      ...abstract,
      { name: 's1', kind: 'scalar', type: 'Dear' },
      { name: 'o0', kind: 'object', type: targets() },
      { name: 'l0', kind: 'list', type: targets() },
      ...(draw.chance(60) ? [{ name: 'l1', kind: 'list', type: targets() } as const] : []),
      ...(draw.chance(40) ? [{ name: 'tags', kind: 'edges', type: 'Int' } as const] : []),
    ];
    addType(name, own, ' implements I');
  }
  addType('C', [
    { name: 's0', kind: 'scalar', type: 'Int' },
    { name: 'edges', kind: 'edges', type: draw.of(objects as [string, ...string[]]) },
  ]);
  addType('Query', [
    { name: 'o0', kind: 'object', type: targets() },
    { name: 'l0', kind: 'list', type: targets() },
    { name: 'l1', kind: 'list', type: 'U' },
    { name: 'l2', kind: 'list', type: 'I' },
    { name: 'o1', kind: 'object', type: 'C' },
  ]);
  return { sdl: lines.join('\n'), types, objects };
}

/** A valid operation, with fragments, conditions and variables, of which some aren't sent. */
export function newQuery(
  { types, objects }: GeneratedSchema,
  draw: Draw,
): { query: string; variables: Record<string, unknown> } {
  const fragments: string[] = [];
  /** By the type that they are on. */
  const spreadable = new Map<string, string[]>();

  function selections(type: string, depth: number): string {
    const fields = types.get(type) ?? [];
    const parts = ['__typename'];
    const count = 1 + draw.below(4);
    for (let part = 0; part < count; part += 1) {
      const kind = draw.below(10);
      const concrete = type === 'I' || type === 'U' ? draw.of(objects as [string, ...string[]]) : type;
      if (kind === 0 && depth > 0) parts.push(`...${fragmentOn(concrete, depth - 1)}${condition()}`);
      else if ((kind <= 3 && concrete !== type) || fields.length === 0) {
        parts.push(`... on ${concrete}${condition()} { ${selections(concrete, depth)} }`);
      } else if (kind === 4) parts.push(`...${condition()} { ${selections(type, depth)} }`);
      else parts.push(field(draw.of(fields as unknown as [Field, ...Field[]]), depth));
    }
    return parts.join(' ');
  }

  function field({ name, kind, type }: Field, depth: number): string {
    if (kind === 'scalar' || type === 'Int') return `${name}${condition()}`;
    if (depth === 0) return '__typename';
    const below = `{ ${selections(type, depth - 1)} }`;
    if (kind === 'edges') return `${name}${condition()} ${below}`;
    const given = argumentsOf();
    // The same response key has the same arguments, or fields could not be merged.
    return `${given.alias}_${name}: ${name}${given.text}${condition()} ${below}`;
  }

  function argumentsOf(): { alias: string; text: string } {
    const first = draw.of(['', 'first: 4', 'first: $n', 'first: null', 'first: $m', 'first: 0']);
    const last = draw.of(['', '', 'last: 2', 'last: $n']);
    const filter = draw.of([
      '',
      '',
      'filter: $f',
      'filter: { less: true, order: ASC }',
      'filter: { and: [{ name: "x" }, {}] }',
    ]);
    const cheap = draw.of(['', '', 'cheap: true', 'cheap: null']);
    const all = [first, last, filter, cheap].filter((each) => each !== '');
    const alias = `k${Buffer.from(all.join()).toString('hex')}`;
    return { alias, text: all.length === 0 ? '' : `(${all.join(', ')})` };
  }

  function condition(): string {
    const made = () => `@${draw.of(['skip', 'include'])}(if: ${draw.of(['true', 'false', '$s', '$t'])})`;
    return draw.chance(12) ? ` ${made()}` : '';
  }

  function fragmentOn(type: string, depth: number): string {
    const known = spreadable.get(type) ?? [];
    const [again] = known;
    if (again !== undefined && draw.chance(60)) return again;
    const name = `F${String(fragments.length)}`;
    fragments.push('');
    fragments[Number(name.slice(1))] = `fragment ${name} on ${type} { ${selections(type, depth)} }`;
    spreadable.set(type, [...(spreadable.get(type) ?? []), name]);
    return name;
  }

  const body = selections('Query', 4);
  const head = 'query Q($n: Int = 6, $m: Int, $f: Filter, $s: Boolean! = true, $t: Boolean!)';
  const variables = {
    t: draw.chance(50),
    ...(draw.chance(50) ? { n: draw.below(9) } : {}),
    ...(draw.chance(40) ? { m: draw.of([null, 3]) } : {}),
    ...(draw.chance(50) ? { s: draw.chance(50) } : {}),
    ...(draw.chance(50) ? { f: draw.of([null, { name: 'x' }, { and: [{ less: true }] }]) } : {}),
  };
  // Each variable is used, as validation asks.
  const used =
    'u: __typename @include(if: $s) @skip(if: $t) uses: o1(first: $n, last: $m, filter: $f) { __typename }';
  return { query: `${head} { ${used} ${body} }\n${fragments.join('\n')}`, variables };
}
