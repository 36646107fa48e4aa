import type { Page } from '../../http/input/page.ts';
import { csvCell, csvLine } from '../../http/csv.ts';
import type { Source } from './source.ts';

type Row = Readonly<Record<string, unknown>>;

/** A list, written as JSON and as CSV. */
export type ExportTable = {
  name: string;
  description: string;
  /** Only these are exported, whatever else a row has. */
  columns: readonly string[];
  pages: (source: Source) => AsyncIterable<readonly Row[]>;
};

/** One object, written as JSON. */
export type ExportRecord = {
  name: string;
  description: string;
  read: (source: Source) => unknown;
};

export type ZipEntry = { name: string; chunks: AsyncIterable<string> };

/** Checks that rows have all columns. */
export function exportTable<Column extends string>(
  table: Omit<ExportTable, 'columns' | 'pages'> & {
    columns: readonly Column[];
    pages: (source: Source) => AsyncIterable<readonly Readonly<Record<Column, unknown>>[]>;
  },
): ExportTable {
  return table;
}

/** Bounds how much is in memory. */
const PAGE_ROWS = 1_000;

/** All pages of a list that is ordered by descending ids. */
export async function* allPages<Row>(
  list: (page: Page) => Promise<Row[]>,
  idOf: (row: Row) => number,
): AsyncGenerator<Row[]> {
  let before = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const rows = await list({ limit: PAGE_ROWS, before });
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < PAGE_ROWS) return;
    before = idOf(last);
  }
}

/** All pages of a list, each read from the last row of the one before. */
export async function* pagesAfter<Row>(
  list: (after: Row | undefined, limit: number) => Promise<Row[]>,
): AsyncGenerator<Row[]> {
  for (let after: Row | undefined; ;) {
    const rows = await list(after, PAGE_ROWS);
    after = rows.at(-1);
    if (after === undefined) return;
    yield rows;
    if (rows.length < PAGE_ROWS) return;
  }
}

/** A list that is short enough to be read as a whole. */
export async function* onePage<Row>(rows: Promise<Row[]> | Row[]): AsyncGenerator<Row[]> {
  yield await rows;
}

export function entriesOfTable({ name, columns, pages }: ExportTable, source: Source): ZipEntry[] {
  return [
    { name: `${name}.json`, chunks: jsonRows(columns, pages(source)) },
    { name: `${name}.csv`, chunks: csvRows(columns, pages(source)) },
  ];
}

export function entryOfRecord({ name, read }: ExportRecord, source: Source): ZipEntry {
  return { name: `${name}.json`, chunks: jsonRecord(read, source) };
}

async function* jsonRecord(read: ExportRecord['read'], source: Source): AsyncGenerator<string> {
  yield `${JSON.stringify(await read(source), null, 2)}\n`;
}

/** One row in each line, so that tools for lines can read it, too. */
async function* jsonRows(
  columns: readonly string[],
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  let separator = '[\n';
  for await (const rows of pages) {
    const lines = rows.map((row) =>
      JSON.stringify(Object.fromEntries(columns.map((column) => [column, row[column] ?? null]))),
    );
    if (lines.length === 0) continue;
    yield separator + lines.join(',\n');
    separator = ',\n';
  }
  yield separator === '[\n' ? '[]\n' : '\n]\n';
}

async function* csvRows(
  columns: readonly string[],
  pages: AsyncIterable<readonly Row[]>,
): AsyncGenerator<string> {
  yield csvLine(columns);
  for await (const rows of pages) {
    yield rows.map((row) => csvLine(columns.map((column) => csvCell(row[column])))).join('');
  }
}
