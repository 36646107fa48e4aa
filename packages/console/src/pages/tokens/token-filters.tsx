import { useQuery } from '@tanstack/react-query';
import { allApplicationsQuery } from '../../api/applications.ts';
import { SelectField } from '../../ui/form/select-field.tsx';
import { ListFilters } from '../../ui/list/list-filters.tsx';
import type { ListFiltersProps } from '../../ui/list/list-filters.tsx';
import { STATUS_OPTIONS } from './queries.ts';

/** Of the tokens of all applications. */
export function TokenFilters({ current, setFilters }: Pick<ListFiltersProps, 'current' | 'setFilters'>) {
  const applications = useQuery(allApplicationsQuery);
  const options = [
    { value: '', label: 'All' },
    ...(applications.data ?? []).map(({ application_id, name }) => ({
      value: String(application_id),
      label: name,
    })),
  ];
  return (
    <ListFilters current={current} setFilters={setFilters} statuses={STATUS_OPTIONS}>
      <SelectField
        label="Application"
        name="application"
        options={options}
        value={current.application === undefined ? '' : String(current.application)}
        onChange={(chosen) => {
          setFilters({ application: chosen === '' ? undefined : Number(chosen) });
        }}
      />
    </ListFilters>
  );
}
