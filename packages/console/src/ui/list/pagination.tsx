import { Button } from '../button.tsx';
import { pageAfter, pageBefore } from './list-search.ts';
import styles from './list.module.css';

type PaginationProps = {
  /** What is listed, for the name: "applications". */
  of: string;
  after: string | undefined;
  nextCursor: string | null;
  onChange: (after: string | undefined) => void;
};

/** The way to the pages before and after, newest first; nothing where one page holds all. */
export function Pagination({ of, after, nextCursor, onChange }: PaginationProps) {
  if (after === undefined && nextCursor === null) return null;
  return (
    <nav aria-label={`Pages of ${of}`} className={styles['pages']}>
      <Button
        isReading
        isDisabled={after === undefined}
        onPress={() => {
          onChange(pageBefore(after ?? ''));
        }}
      >
        Newer
      </Button>
      <Button
        isReading
        isDisabled={nextCursor === null}
        onPress={() => {
          onChange(pageAfter(after, nextCursor ?? ''));
        }}
      >
        Older
      </Button>
    </nav>
  );
}
