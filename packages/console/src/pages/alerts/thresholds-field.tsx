import { useId, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { isBeingPressed } from '../../ui/form/is-being-pressed.ts';
import { formatShare } from '../../ui/format.ts';
import field from '../../ui/form/field.module.css';
import { isShare, NOT_A_SHARE } from './form-values.ts';
import styles from './alerts.module.css';

const SUGGESTED = [50, 80, 100];

type ThresholdsFieldProps = {
  label: string;
  name: string;
  shares: readonly number[];
  error: string | undefined;
};

/**
 * Thresholds to tick, and a field for one of your own. The form gets the ticked ones under `name`, and one that was
 * typed but not added under `<name>_own`.
 */
export function ThresholdsField({ label, name, shares, error }: ThresholdsFieldProps) {
  const id = useId();
  const [ticked, setTicked] = useState(shares);
  const [offered, setOffered] = useState(inOrder([...SUGGESTED, ...shares]));
  const [own, setOwn] = useState('');
  const [isFaulty, setFaulty] = useState(false);
  const message = isFaulty ? NOT_A_SHARE : error;
  function add() {
    if (!isShare(own)) {
      setFaulty(true);
      return;
    }
    setOffered(inOrder([...offered, Number(own)]));
    setTicked(inOrder([...ticked, Number(own)]));
    setOwn('');
    setFaulty(false);
  }
  return (
    <fieldset className={styles['thresholds']}>
      <legend>{label}</legend>
      <input type="hidden" name={name} value={ticked.join(' ')} />
      <div className={styles['chips']}>
        {offered.map((share) => (
          <label key={share} className={styles['chip']}>
            <input
              type="checkbox"
              checked={ticked.includes(share)}
              onChange={({ target }) => {
                setTicked(
                  target.checked ? inOrder([...ticked, share]) : ticked.filter((one) => one !== share),
                );
              }}
            />
            {formatShare(share / 100)}
          </label>
        ))}
        <input
          className={`${field['input'] ?? ''} ${styles['own'] ?? ''}`}
          name={`${name}_own`}
          value={own}
          inputMode="numeric"
          autoComplete="off"
          maxLength={3}
          placeholder="Other"
          aria-label={`${label}: another percentage`}
          aria-invalid={message !== undefined}
          aria-describedby={message === undefined ? undefined : `${id}-error`}
          onChange={({ target }) => {
            setOwn(target.value);
            if (isFaulty) setFaulty(!isShare(target.value));
          }}
          onBlur={({ relatedTarget }) => {
            // A message would move the button away from the pointer that presses it; the form says the same.
            if (!isBeingPressed(relatedTarget)) setFaulty(own !== '' && !isShare(own));
          }}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || own === '') return;
            event.preventDefault();
            add();
          }}
        />
        <Button aria-label={`Add to ${label.toLowerCase()}`} onPress={add}>
          Add
        </Button>
      </div>
      {message !== undefined && (
        <span id={`${id}-error`} className={field['error']}>
          {message}
        </span>
      )}
    </fieldset>
  );
}

function inOrder(shares: readonly number[]): number[] {
  return [...new Set(shares)].toSorted((one, other) => one - other);
}
