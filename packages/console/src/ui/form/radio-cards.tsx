import styles from './radio-cards.module.css';

type RadioCardsProps = {
  label: string;
  name: string;
  options: readonly { value: string; label: string; description: string }[];
  defaultValue: string;
  onChange?: (value: string) => void;
};

/** One of a few options, each explained in a sentence. */
export function RadioCards({ label, name, options, defaultValue, onChange }: RadioCardsProps) {
  return (
    <fieldset className={styles['group']}>
      <legend>{label}</legend>
      {options.map((option) => (
        <label key={option.value} className={styles['card']}>
          <input
            type="radio"
            name={name}
            value={option.value}
            defaultChecked={option.value === defaultValue}
            onChange={() => onChange?.(option.value)}
            aria-describedby={`${name}-${option.value}`}
          />
          <span>
            <span className={styles['title']}>{option.label}</span>
            <span id={`${name}-${option.value}`} className={styles['description']}>
              {option.description}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}
