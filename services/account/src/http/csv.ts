export type CsvCell = number | string;

/**
 * What spreadsheets take for a formula, full-width forms included (OWASP, CSV Injection): an application named
 * `=HYPERLINK(…)` would run for its manager. A leading apostrophe makes it text.
 */
const FORMULA_START = /^[=+\-@\t\r\n＝＋－＠]/u;

/** A line of CSV (RFC 4180, docs/design/console.md). */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(cellText).join(',')}\r\n`;
}

/** Of a row's value: nothing for null, ISO 8601 for dates, JSON for what has parts. */
export function csvCell(value: unknown): CsvCell {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number' || typeof value === 'string') return value;
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}

function cellText(cell: CsvCell): string {
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA_START.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
