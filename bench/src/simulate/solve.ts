export type Equation = { factors: readonly number[]; sum: number };

/**
 * As many unknowns as equations, by elimination with the largest pivot first.
 *
 * @throws {Error} if the equations don't determine them
 */
export function solve(equations: readonly Equation[]): number[] {
  const size = equations.length;
  const rows = equations.map(({ factors, sum }) => [...factors, sum]);
  const at = (row: number, column: number) => rows[row]?.[column] ?? 0;
  for (let column = 0; column < size; column += 1) {
    let pivot = column;
    for (let row = column + 1; row < size; row += 1) {
      if (Math.abs(at(row, column)) > Math.abs(at(pivot, column))) pivot = row;
    }
    if (at(pivot, column) === 0) throw new Error('the equations depend on each other');
    const [above = [], below = []] = [rows[column], rows[pivot]];
    rows[pivot] = above;
    const own = below.map((value) => value / (below[column] ?? 1));
    rows[column] = own;
    for (const [row, values] of rows.entries()) {
      if (row === column) continue;
      const factor = values[column] ?? 0;
      rows[row] = values.map((value, index) => value - factor * (own[index] ?? 0));
    }
  }
  return rows.map((row) => row[size] ?? 0);
}
