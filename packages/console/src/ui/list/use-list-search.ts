import { useNavigate, useSearch } from '@tanstack/react-router';
import { listSearch } from './list-search.ts';
import type { ListSearch } from './list-search.ts';

type Filters = {
  search?: string | undefined;
  status?: string | undefined;
  application?: number | undefined;
};

/** A list's state, which is in the address: it survives a reload, and a link leads to the same list. */
export function useListSearch() {
  const current: ListSearch = listSearch(useSearch({ strict: false }));
  const navigate = useNavigate();
  return {
    current,
    isFiltered: Object.keys(current).some((name) => name !== 'after'),
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
