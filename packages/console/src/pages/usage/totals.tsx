import { useId } from 'react';
import type { Usage } from '../../api/usage.ts';
import { MEASURES, MEASURE_TEXT } from '../../ui/usage/measures.ts';
import type { Measure } from '../../ui/usage/measures.ts';
import { formatQuantity } from '../../ui/usage/quantity.tsx';
import { differenceFrom } from './difference.ts';
import styles from './usage.module.css';

type TotalsProps = {
  usage: Usage;
  before: { usage: Usage | null; name: string };
  measure: Measure;
  onChange: (measure: Measure) => void;
};

/** The total of each measure and its difference from the range before. The chosen one is what the chart shows. */
export function Totals({ usage, before, measure, onChange }: TotalsProps) {
  const id = useId();
  return (
    <fieldset className={styles['totals']}>
      <legend>Measure</legend>
      {MEASURES.map((each) => {
        const { name, field, kind } = MEASURE_TEXT[each];
        const total = usage.usage[field];
        return (
          <label key={each} className={styles['total']}>
            <span className={styles['measure']}>
              <input
                type="radio"
                name={`${id}-measure`}
                value={each}
                checked={each === measure}
                aria-labelledby={`${id}-${each}`}
                aria-describedby={`${id}-${each}-total`}
                onChange={() => {
                  onChange(each);
                }}
              />
              <span id={`${id}-${each}`}>{name}</span>
            </span>
            <span id={`${id}-${each}-total`}>
              <span className={styles['amount']}>{formatQuantity(total, kind)}</span>{' '}
              <span className={styles['difference']}>
                {before.usage !== null && (
                  <>
                    {differenceFrom(before.usage.usage[field], total, before.name)}
                    {before.usage.usage[field] > 0 && ` (${formatQuantity(before.usage.usage[field], kind)})`}
                  </>
                )}
              </span>
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}
