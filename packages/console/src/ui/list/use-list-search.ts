import { useNavigate, useSearch } from '@tanstack/react-router';
import { listSearch } from './list-search.ts';
import type { ListSearch } from './list-search.ts';

type Filters = {
  search?: string | undefined;
  status?: string | undefined;
  application?: number | undefined;
};

const ROWS_AT_A_GLANCE = 8;

/** A list's state, which is in the address: it survives a reload, and a link leads to the same list. */
export function useListSearch() {
  const current: ListSearch = listSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  const isFiltered = Object.keys(current).some((name) => name !== 'after');
  return {
    current,
    isFiltered,
    /** Whether there is more than one sees at a glance, or the list is searched already. */
    isLong: (rows: readonly unknown[] = [], nextCursor: string | null = null) =>
      isFiltered || current.after !== undefined || nextCursor !== null || rows.length >= ROWS_AT_A_GLANCE,
    /** Starts on the first page again. */
    setFilters: (changes: Filters) => {
      const { after: _, ...rest } = current;
      void navigate({ to: '.', search: withoutEmpty({ ...rest, ...changes }), replace: true });
    },
    setAfter: (after: string | undefined) => {
      void navigate({ to: '.', search: withoutEmpty({ ...current, after }) });
    },
  };
}

function withoutEmpty(search: Record<string, unknown>): ListSearch {
  return listSearch(Object.fromEntries(Object.entries(search).filter(([, value]) => value !== '')));
}
