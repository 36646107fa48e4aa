import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'graphql';
import { priceDocument } from '../src/document/priced-document.ts';
import { loadCostSchema } from '../src/schema/load-cost-schema.ts';
import { MAX_COUNT } from '../src/thousandths.ts';
import { newQuery, newSchema } from './generated-operations.ts';
import { createDraw } from './draw.ts';

/**
 * Compares figures with those of the crate graphql-static-analysis 0.2.2 (docs/design/price.md), over generated schemas
 * and operations, by hand:
 *
 *     node packages/graphql-cost/scripts/compare-with-crate.ts PROGRAM [SEED] [SCHEMAS]
 *
 * PROGRAM reads a line of JSON for each operation, `{ name, query, variables, op }`, and prints its name, field cost and
 * type cost, or why it has none, between tabs; its arguments are the file of the schema and the size of lists without
 * one.
 */

const LIST_SIZE = 7;
const QUERIES = 60;
/** What the specification's text takes for granted: object types weigh 1. */
const DEFAULTS = { field: 1, input: 1, type: 1, rootType: 1 };

type Operation = ReturnType<typeof newQuery>;
type Figures = { fieldCost: number; typeCost: number };

const [program, seed = String(Date.now() % 1_000_000), schemas = '100'] = process.argv.slice(2);
if (program === undefined) throw new Error('Name the program of the crate.');
const directory = mkdtempSync(join(tmpdir(), 'tollgate-graphql-cost-'));
const draw = createDraw(Number(seed));
let compared = 0;
const refused = new Map<string, number>();
for (let number = 1; number <= Number(schemas); number += 1) {
  const schema = newSchema(draw);
  const operations = Array.from({ length: QUERIES }, () => newQuery(schema, draw));
  const theirs = figuresOfCrate(program, schema.sdl, operations);
  const { schema: costs } = loadCostSchema(schema.sdl, { defaults: DEFAULTS, listSize: LIST_SIZE });
  for (const [index, { query, variables }] of operations.entries()) {
    const expected = theirs[index] ?? 'no line';
    if (typeof expected === 'string') {
      refused.set(expected, (refused.get(expected) ?? 0) + 1);
      continue;
    }
    const document = parse(query, { noLocation: true });
    const { fieldCost, typeCost } = priceDocument(costs, query, document).price({ variables });
    compared += 1;
    if (isDeepStrictEqual({ fieldCost, typeCost }, expected)) continue;
    process.exitCode = 1;
    process.stdout.write(
      `${JSON.stringify({ seed, ours: { fieldCost, typeCost }, expected, variables }, null, 2)}\n`,
    );
    process.stdout.write(`${schema.sdl}\n\n${query}\n`);
  }
}
rmSync(directory, { recursive: true });
process.stdout.write(`Seed ${seed}: compared ${String(compared)} operations.\n`);
for (const [reason, times] of refused)
  process.stdout.write(`Not compared, ${String(times)} times: ${reason}\n`);

function figuresOfCrate(file: string, sdl: string, operations: readonly Operation[]): (Figures | string)[] {
  const schemaFile = join(directory, 'schema.graphql');
  writeFileSync(schemaFile, sdl);
  const input = operations.map(({ query, variables }, index) =>
    JSON.stringify({ name: String(index), query, variables, op: null }),
  );
  const output = execFileSync(file, [schemaFile, String(LIST_SIZE)], {
    input: `${input.join('\n')}\n`,
    encoding: 'utf8',
  });
  const lines = output.trimEnd().split('\n');
  return lines.map((line) => {
    const [, fieldCost, typeCost] = line.split('\t');
    if (typeCost === undefined) return fieldCost ?? line;
    const atMost = (figure: string | undefined) => Math.min(Number(figure), MAX_COUNT);
    return { fieldCost: atMost(fieldCost), typeCost: atMost(typeCost) };
  });
}
