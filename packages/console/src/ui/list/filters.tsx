import { useEffect, useId, useState } from 'react';
import type { ReactNode } from 'react';
import field from '../form/field.module.css';
import styles from './list.module.css';

/** Long enough that a word is one request, short enough to feel at once. */
const TYPING_MS = 250;

/** The search and the filters above a list. */
export function Filters({ children }: { children: ReactNode }) {
  return (
    <div role="search" className={styles['filters']}>
      {children}
    </div>
  );
}

type SearchFieldProps = { label: string; value: string; onChange: (value: string) => void };

/** Searches while you type. */
export function SearchField({ label, value, onChange }: SearchFieldProps) {
  const id = useId();
  const [typed, setTyped] = useState(value);
  useEffect(() => {
    if (typed.trim() === value) return;
    const timer = setTimeout(() => {
      onChange(typed.trim());
    }, TYPING_MS);
    return () => {
      clearTimeout(timer);
    };
  }, [typed, value, onChange]);
  return (
    <div className={styles['search']}>
      <label htmlFor={id} className={field['label']}>
        {label}
      </label>
      <input
        id={id}
        type="search"
        value={typed}
        maxLength={200}
        autoComplete="off"
        spellCheck={false}
        className={field['input']}
        onChange={(event) => {
          setTyped(event.target.value);
        }}
      />
    </div>
  );
}
