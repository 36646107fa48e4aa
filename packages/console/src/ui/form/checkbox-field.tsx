import { useId } from 'react';
import styles from './field.module.css';

type CheckboxFieldProps = { label: string; name: string; defaultChecked: boolean; description?: string };

/** The browser's own checkbox, with its label as the target. */
export function CheckboxField({ label, name, defaultChecked, description }: CheckboxFieldProps) {
  const id = useId();
  const described = description === undefined ? {} : { 'aria-describedby': `${id}-description` };
  return (
    <div className={styles['field']}>
      <label className={styles['check']}>
        <input type="checkbox" name={name} defaultChecked={defaultChecked} {...described} />
        {label}
      </label>
      {description !== undefined && (
        <span id={`${id}-description`} className={styles['description']}>
          {description}
        </span>
      )}
    </div>
  );
}
