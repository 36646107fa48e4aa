import { useState } from 'react';
import { Button } from '../button.tsx';
import { CopyButton } from '../copy-button.tsx';
import { useRevealed } from './use-hidden-after-absence.ts';
import styles from './secret.module.css';

type LineProps = {
  label: string;
  text: string;
  /** What the copy button's name says: "client ID". */
  what: string;
  onCopied?: () => void;
};

/** A text to copy, with its label. */
export function CopyLine({ label, text, what }: LineProps) {
  return (
    <div className={styles['line']}>
      <span className={styles['label']}>{label}</span>
      <code className={styles['text']}>{text}</code>
      <CopyButton what={what} text={text} />
    </div>
  );
}

type SecretLineProps = Omit<LineProps, 'text'> & {
  /** The secret, or how to get it: then it is fetched only when it is shown or copied. */
  text: string | (() => Promise<string>);
  onError?: (error: unknown) => void;
};

/** A secret to copy. It is on the page only while it is shown, and no longer than you look at the page. */
export function SecretLine({ label, text, what, onCopied, onError }: SecretLineProps) {
  const [isRevealed, setRevealed] = useRevealed();
  const [fetched, setFetched] = useState('');
  async function show() {
    try {
      if (typeof text !== 'string') setFetched(await text());
      setRevealed(true);
    } catch (error) {
      onError?.(error);
    }
  }
  const shown = typeof text === 'string' ? text : fetched;
  return (
    <div className={styles['line']}>
      <span className={styles['label']}>{label}</span>
      <code className={styles['text']}>{isRevealed ? shown : '•'.repeat(16)}</code>
      <span className={styles['buttons']}>
        <Button
          variant="quiet"
          aria-label={`${isRevealed ? 'Hide' : 'Show'} ${what}`}
          onPress={() => {
            if (isRevealed) setRevealed(false);
            else void show();
          }}
        >
          {isRevealed ? 'Hide' : 'Show'}
        </Button>
        <CopyButton
          what={what}
          text={text}
          {...(onCopied === undefined ? {} : { onCopied })}
          {...(onError === undefined ? {} : { onError })}
        />
      </span>
    </div>
  );
}
