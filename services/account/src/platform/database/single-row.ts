/** The row of a statement that makes or finds exactly one. */
export function singleRow<Row>(rows: readonly Row[]): Row {
  const [row, ...others] = rows;
  if (row === undefined || others.length > 0) {
    throw new Error(`${String(rows.length)} rows where one was wanted`);
  }
  return row;
}
