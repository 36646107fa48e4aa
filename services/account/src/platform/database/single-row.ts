/** The row of a statement that returns exactly one. */
export function singleRow<Row>(rows: readonly Row[]): Row {
  const [row, ...others] = rows;
  if (row === undefined || others.length > 0) {
    throw new Error(`${String(rows.length)} rows instead of one`);
  }
  return row;
}
