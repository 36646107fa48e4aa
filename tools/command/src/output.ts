/** What people read: tables of lists, and one record line by line. */

export type Row = Readonly<Record<string, unknown>>;

/** A member of a row, or one within it with a dot. */
export type Column<Item> = {
  [Name in keyof Item & string]: Name | InnerColumn<Name, NonNullable<Item[Name]>>;
}[keyof Item & string];

type InnerColumn<Name extends string, Member> = Member extends readonly unknown[]
  ? never
  : Member extends object
    ? `${Name}.${keyof Member & string}`
    : never;

/** Lines of a table: the columns' names, then a line per row. */
export function tableLines<Item extends Row>(
  columns: readonly Column<NoInfer<Item>>[],
  rows: readonly Item[],
): string[] {
  const cells = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => cell(memberOf(row, column)))),
  ];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => (line[index] ?? '').length)));
  return cells.map((line) =>
    line
      .map((text, index) => text.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** Every member on a line of its own; those of objects with dots, but for a plan's description, which is shown as JSON. */
export function recordLines(record: Row): string[] {
  const members = Object.entries(record).flatMap(([name, value]) =>
    isRecord(value) && name !== 'description'
      ? Object.entries(value).map(([inner, member]) => [`${name}.${inner}`, member] as const)
      : [[name, value] as const],
  );
  const width = Math.max(...members.map(([name]) => name.length));
  return members.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`);
}

function memberOf(row: Row, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => (isRecord(value) ? value[name] : undefined), row);
}

function isRecord(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A time of the API; people read all of them to the second. */
const WITH_FRACTION = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z$/;

/** One line, in which nothing moves the terminal's cursor, whatever an account is called. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  const text = typeof value === 'string' ? value.replace(WITH_FRACTION, '$1Z') : JSON.stringify(value);
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u{202a}-\u{202e}\u{2066}-\u{2069}]/gu, '\u{fffd}');
}
