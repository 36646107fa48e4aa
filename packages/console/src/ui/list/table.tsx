import { Fragment } from 'react';
import type { ReactNode } from 'react';
import page from '../page/page.module.css';
import styles from './list.module.css';

export type Column<Row> = {
  label: string;
  cell: (row: Row) => ReactNode;
  /** A number: flush right, so that digits line up. */
  align?: 'end';
  /** Its place where the table is narrow and each row is a card: its title, its status, or left out. Others are facts. */
  onCard?: 'title' | 'status' | 'none';
};

type TableProps<Row> = {
  label: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => number | string;
  /** What can be done with a row. */
  actions?: ((row: Row) => ReactNode) | undefined;
  /** What unfolds below a row. */
  detail?: (row: Row) => ReactNode;
  /** The key of the row that was just made. */
  newKey?: number | string | undefined;
};

/** With this many columns, a table leaves some out before its rows become cards. */
const WIDE_FROM_COLUMNS = 7;

/** Up to this many columns fit beside something else; their rows are cards on phones only. */
const COMPACT_MAX_COLUMNS = 3;

/**
 * A table that scrolls sideways by itself where it is wider than its place. In a place of less than 45rem, each row is
 * a card.
 */
export function Table<Row>({ label, columns, rows, keyOf, actions, detail, newKey }: TableProps<Row>) {
  return (
    <div
      className={styles['scroll']}
      data-compact={columns.length <= COMPACT_MAX_COLUMNS || undefined}
      tabIndex={0}
      role="region"
      aria-label={`${label} table`}
    >
      <table className={styles['table']} data-wide={columns.length >= WIDE_FROM_COLUMNS || undefined}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.label}
                scope="col"
                data-align={column.align}
                data-card={column.onCard === 'none' ? 'none' : undefined}
              >
                {column.label}
              </th>
            ))}
            {actions !== undefined && (
              <th scope="col">
                <span className={page['spoken']}>Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => {
            const key = keyOf(row);
            const unfolded = detail?.(row);
            return (
              <Fragment key={key}>
                <tr data-new={key === newKey || undefined}>
                  {columns.map(({ label: name, cell, align, onCard = 'fact' }) =>
                    onCard === 'title' ? (
                      <th key={name} scope="row" data-card="title">
                        {cell(row)}
                      </th>
                    ) : (
                      <td key={name} data-label={name} data-align={align} data-card={onCard}>
                        {cell(row)}
                      </td>
                    ),
                  )}
                  {actions !== undefined && (
                    <td data-card="actions">
                      <div className={styles['actions']}>{actions(row)}</div>
                    </td>
                  )}
                </tr>
                {Boolean(unfolded) && (
                  <tr>
                    <td data-card="detail" colSpan={columns.length + (actions === undefined ? 0 : 1)}>
                      {unfolded}
                    </td>
                  </tr>
                )}
              </Fragment>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
