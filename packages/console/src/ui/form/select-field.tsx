import { useId } from 'react';
import styles from './field.module.css';

type SelectFieldProps = {
  label: string;
  name: string;
  options: readonly { value: string; label: string }[];
  description?: string;
} & ({ defaultValue: string } | { value: string; onChange: (value: string) => void });

/** The browser's own select: it works with every assistive technology and on phones. */
export function SelectField({ label, name, options, description, ...state }: SelectFieldProps) {
  const id = useId();
  const control =
    'value' in state
      ? {
          value: state.value,
          onChange: (event: { target: { value: string } }) => {
            state.onChange(event.target.value);
          },
        }
      : state;
  return (
    <div className={styles['field']}>
      <label htmlFor={id} className={styles['label']}>
        {label}
      </label>
      <select
        id={id}
        name={name}
        className={styles['select']}
        {...(description === undefined ? {} : { 'aria-describedby': `${id}-description` })}
        {...control}
      >
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
      </select>
      {description !== undefined && (
        <span id={`${id}-description`} className={styles['description']}>
          {description}
        </span>
      )}
    </div>
  );
}
