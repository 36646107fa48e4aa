import type { ReactNode } from 'react';
import styles from './list.module.css';

type Column = string | { label: string; align: 'end' };

type TableProps = { label: string; columns: readonly Column[]; children: ReactNode };

/** A table that scrolls sideways by itself where it is wider than the page. Its rows are `<tr>`. */
export function Table({ label, columns, children }: TableProps) {
  return (
    <div className={styles['scroll']} tabIndex={0} role="region" aria-label={`${label} table`}>
      <table className={styles['table']}>
        <thead>
          <tr>
            {columns.map((column) =>
              typeof column === 'string' ? (
                <th key={column} scope="col">
                  {column}
                </th>
              ) : (
                <th key={column.label} scope="col" className={styles['end']}>
                  {column.label}
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** A number, flush right so that digits stand below each other. */
export function NumberCell({ children }: { children: ReactNode }) {
  return <td className={styles['end']}>{children}</td>;
}

/** A quiet button, whose text stands where other cells have theirs. */
export function ButtonCell({ children }: { children: ReactNode }) {
  return <td className={styles['flush']}>{children}</td>;
}

/** What can be done with the row. */
export function ActionsCell({ children }: { children: ReactNode }) {
  return (
    <td className={styles['buttons']}>
      <div className={styles['actions']}>{children}</div>
    </td>
  );
}
