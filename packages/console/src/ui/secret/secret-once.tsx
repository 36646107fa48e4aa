import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../button.tsx';
import { Dialog } from '../dialog.tsx';
import { saveFile } from '../save-file.ts';
import { SecretLine } from './secret-line.tsx';
import styles from './secret.module.css';

type SecretOnceProps = {
  title: ReactNode;
  /** What the secret is called in a sentence: "client secret". */
  what: string;
  secret: string;
  onClose: () => void;
  /** The secret as a file of environment variables. */
  env: { fileName: string; text: string };
  /** Above the secret. */
  children?: ReactNode;
  /** Below it, with what marks the secret as copied. */
  more?: (markCopied: () => void) => ReactNode;
};

/** A secret that is shown once. Closing the dialog takes a second press while it hasn't been copied. */
export function SecretOnce({ title, what, secret, onClose, env, children, more }: SecretOnceProps) {
  const [isCopied, setCopied] = useState(false);
  const [isWarned, setWarned] = useState(false);
  const markCopied = () => {
    setCopied(true);
  };
  function close() {
    if (isCopied || isWarned) onClose();
    else setWarned(true);
  }
  return (
    <Dialog title={title} isOpen onClose={close} canDismiss={isCopied}>
      <p>
        Copy the {what} now. <strong>It is shown only once</strong>: if you lose it, rotate it to get a new
        one.
      </p>
      {children}
      <SecretLine
        label={`${what.slice(0, 1).toUpperCase()}${what.slice(1)}`}
        what={what}
        text={secret}
        onCopied={markCopied}
      />
      {more?.(markCopied)}
      {isWarned && !isCopied && (
        <p role="alert">You have not copied the {what}. Select Done again to close without it.</p>
      )}
      <div className={styles['actions']}>
        <Button variant="primary" onPress={close}>
          Done
        </Button>
        <Button
          onPress={() => {
            saveFile(env.fileName, new Blob([env.text], { type: 'text/plain' }));
            markCopied();
          }}
        >
          Download .env
        </Button>
      </div>
    </Dialog>
  );
}
