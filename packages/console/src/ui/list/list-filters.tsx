import type { ReactNode } from 'react';
import { SelectField } from '../form/select-field.tsx';
import { Filters, SearchField } from './filters.tsx';
import type { useListSearch } from './use-list-search.ts';

export type ListFiltersProps = Pick<ReturnType<typeof useListSearch>, 'current' | 'setFilters'> & {
  statuses: readonly { value: string; label: string }[];
  /** Further filters. */
  children?: ReactNode;
};

/** Search and status, above a list that is longer than one sees at a glance. */
export function ListFilters({ current, setFilters, statuses, children }: ListFiltersProps) {
  return (
    <Filters>
      <SearchField
        label="Search"
        value={current.search ?? ''}
        onChange={(search) => {
          setFilters({ search });
        }}
      />
      <SelectField
        label="Status"
        name="status"
        options={statuses}
        value={current.status ?? ''}
        onChange={(status) => {
          setFilters({ status });
        }}
      />
      {children}
    </Filters>
  );
}
