import type { Usage } from '../../api/usage.ts';
import { formatShare } from '../../ui/format.ts';
import { groupsOf } from '../../ui/usage/groups.ts';
import { MEASURES, MEASURE_TEXT } from '../../ui/usage/measures.ts';
import type { Measure } from '../../ui/usage/measures.ts';
import { Quantity } from '../../ui/usage/quantity.tsx';
import styles from '../../ui/usage/usage.module.css';
import page from './usage.module.css';

const COLUMNS = { application: 'Application', member: 'Member', api_version: 'API version' } as const;
const TITLES = { application: 'By application', member: 'By member', api_version: 'By API version' } as const;

type GroupsTableProps = {
  usage: Usage & { group_by: keyof typeof TITLES };
  measure: Measure;
};

/** All groups of the range, also those that the chart adds up as others; most of the measure first. */
export function GroupsTable({ usage, measure }: GroupsTableProps) {
  const { field, name } = MEASURE_TEXT[measure];
  const title = TITLES[usage.group_by];
  const groups = groupsOf(usage).toSorted((one, other) => other.usage[field] - one.usage[field]);
  const whole = usage.usage[field];
  return (
    <section className={page['section']} aria-labelledby="by-group">
      <h2 id="by-group">{title}</h2>
      <div className={styles['scroll']} tabIndex={0} role="region" aria-label="Usage by group">
        <table className={styles['table']} data-cards>
          <thead>
            <tr>
              <th scope="col">{COLUMNS[usage.group_by]}</th>
              <th scope="col" className={styles['figure']}>
                Share of {name.toLowerCase()}
              </th>
              {MEASURES.map((each) => (
                <th key={each} scope="col" className={styles['figure']}>
                  {MEASURE_TEXT[each].name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map(({ id, name: groupName, usage: figures }) => (
              <tr key={id}>
                <th scope="row">{groupName}</th>
                <td data-label={`Share of ${name.toLowerCase()}`} className={styles['figure']}>
                  {whole === 0 ? '–' : formatShare(figures[field] / whole)}
                </td>
                {MEASURES.map((each) => (
                  <td key={each} data-label={MEASURE_TEXT[each].name} className={styles['figure']}>
                    <Quantity value={figures[MEASURE_TEXT[each].field]} kind={MEASURE_TEXT[each].kind} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
