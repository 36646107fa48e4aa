import type { Result } from './api/client.ts';

export type ComparedOperation = Result<'comparePrices'>['operations'][number];

export type Figures = Pick<
  ComparedOperation,
  'requests' | 'points' | 'estimated_points' | 'exceeding_requests' | 'excess_points'
>;

export type ComparedFields = Figures & {
  /** `query.users`, or several of one document, such as `query.films + query.users`. */
  root_fields: string;
  operations: number;
};

/**
 * The figures by the root fields that documents select. Only documents with one tell of a single field: what a field
 * has of a document's price, nothing states.
 */
export function byRootFields(operations: readonly ComparedOperation[]): ComparedFields[] {
  const sums = new Map<string, ComparedFields>();
  for (const operation of operations) {
    const root_fields = rootFields(operation);
    if (root_fields === null) continue;
    const sum = sums.get(root_fields) ?? { root_fields, operations: 0, ...NOTHING };
    sums.set(root_fields, together(sum, operation));
  }
  return [...sums.values()].toSorted((one, other) => difference(other) - difference(one));
}

const NOTHING: Figures = {
  requests: 0,
  points: 0,
  estimated_points: 0,
  exceeding_requests: 0,
  excess_points: 0,
};

function together(sum: ComparedFields, more: Figures): ComparedFields {
  return {
    root_fields: sum.root_fields,
    operations: sum.operations + 1,
    requests: sum.requests + more.requests,
    points: sum.points + more.points,
    estimated_points: sum.estimated_points + more.estimated_points,
    exceeding_requests: sum.exceeding_requests + more.exceeding_requests,
    excess_points: sum.excess_points + more.excess_points,
  };
}

function difference({ points, estimated_points }: Figures): number {
  return Math.abs(points - estimated_points);
}

/** How many times the estimate the price is, with two decimals; `-` without an estimate. */
export function ratioOf({ points, estimated_points }: Figures): string {
  return estimated_points === 0 ? '-' : (points / estimated_points).toFixed(2);
}

/** Null for a document that isn't kept, or from which the operation can't be told. */
function rootFields({ document, name }: ComparedOperation): string | null {
  const definitions = definitionsIn(document ?? '');
  const operations = definitions.filter(({ kind }) => kind !== 'fragment');
  const meant = operations.length === 1 ? operations : operations.filter((each) => each.name === name);
  const [operation, another] = meant;
  if (operation === undefined || another !== undefined) return null;
  const fields = new Set<string>();
  addFields(operation.lines, definitions, fields, new Set());
  return [...fields]
    .toSorted()
    .map((field) => `${operation.kind}.${field}`)
    .join(' + ');
}

/** `lines`: its selections, without the indent that all of them have. */
type Definition = { kind: string; name: string | undefined; lines: string[] };

/** Documents are kept as gateways print them: a selection on each line, indented by two blanks for each level. */
function definitionsIn(document: string): Definition[] {
  const definitions: Definition[] = [];
  for (const line of document.split('\n')) {
    const [, kind, name] = /^(query|mutation|subscription|fragment)(?: (\w+))?/.exec(line) ?? [];
    if (kind !== undefined) definitions.push({ kind, name, lines: [] });
    else if (line.startsWith('  ')) definitions.at(-1)?.lines.push(line.slice(2));
  }
  return definitions;
}

function addFields(
  lines: readonly string[],
  definitions: readonly Definition[],
  fields: Set<string>,
  spread: Set<string>,
): void {
  let isWithinInline = false;
  const inline: string[] = [];
  for (const line of lines) {
    if (line.startsWith(' ')) {
      if (isWithinInline) inline.push(line.slice(2));
      continue;
    }
    const [, fragment] = /^\.\.\.(\w+)/.exec(line) ?? [];
    const [, field] = /^(?:\w+: )?(\w+)/.exec(line) ?? [];
    isWithinInline = line.startsWith('... ');
    if (field !== undefined) fields.add(field);
    if (fragment === undefined || spread.has(fragment)) continue;
    spread.add(fragment);
    const found = definitions.find(({ kind, name }) => kind === 'fragment' && name === fragment);
    addFields(found?.lines ?? [], definitions, fields, spread);
  }
  if (inline.length > 0) addFields(inline, definitions, fields, spread);
}
