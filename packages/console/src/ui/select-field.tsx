import { useId } from 'react';
import styles from './field.module.css';

type SelectFieldProps = {
  label: string;
  name: string;
  options: readonly { value: string; label: string }[];
  defaultValue: string;
  description?: string;
};

/** The browser's own select: it works with every assistive technology and on phones. */
export function SelectField({ label, options, description, ...props }: SelectFieldProps) {
  const id = useId();
  return (
    <div className={styles['field']}>
      <label htmlFor={id} className={styles['label']}>
        {label}
      </label>
      <select id={id} className={styles['select']} aria-describedby={`${id}-description`} {...props}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      <span id={`${id}-description`} className={styles['description']}>
        {description}
      </span>
    </div>
  );
}
