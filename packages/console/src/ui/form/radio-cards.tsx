import styles from './radio-cards.module.css';

type RadioCardsProps = {
  label: string;
  name: string;
  options: readonly { value: string; label: string; description: string }[];
  defaultValue: string;
};

/** One of a few options, each explained in a sentence. */
export function RadioCards({ label, name, options, defaultValue }: RadioCardsProps) {
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
