import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import type { components } from '../../../api/schema.d.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { ErrorMessage } from '../../../ui/page/states.tsx';
import pageStyles from '../../../ui/page/page.module.css';
import { useConfirmed } from '../confirmation.tsx';
import styles from './two-factor.module.css';

export type Factors = components['schemas']['TwoFactor'];

export type FactorProps = {
  factors: Factors;
  /** With recovery codes that have to be shown now. */
  onChanged: (newCodes?: readonly string[] | null) => void;
};

/** One kind of factor: what it is, its state, and its action. */
export function Factor({
  title,
  action,
  children,
}: {
  title: string;
  action: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className={styles['factor']}>
      <div className={pageStyles['header']}>
        <h3>{title}</h3>
        {action}
      </div>
      {children}
    </div>
  );
}

/** An action that needs a confirmed session. */
export function useFactorAction<T>(action: () => Promise<T>, onDone: (result: T) => void) {
  const confirmed = useConfirmed();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => confirmed(action),
    onSuccess: onDone,
  });
  return { run: mutate, isPending, error };
}

type RemoveProps = {
  /** What is removed: "authenticator app", or a passkey's name. */
  what: string;
  consequence: string;
  /** Whether the password is enough afterwards. */
  isLast: boolean;
  remove: () => Promise<unknown>;
  onRemoved: () => void;
};

/** Removes a factor after saying what follows. */
export function RemoveFactor({ what, consequence, isLast, remove, onRemoved }: RemoveProps) {
  const [isOpen, setOpen] = useState(false);
  const removal = useFactorAction(remove, () => {
    setOpen(false);
    onRemoved();
  });
  const close = () => {
    setOpen(false);
  };
  return (
    <>
      <Button
        variant="danger"
        aria-label={`Remove ${what}`}
        onPress={() => {
          setOpen(true);
        }}
      >
        Remove
      </Button>
      <Dialog title={`Remove ${what}?`} isOpen={isOpen} onClose={close}>
        <p>{consequence}</p>
        {isLast && (
          <p>
            It is your only second factor. Two-factor authentication is then off: your password is enough to
            sign in, and your recovery codes stop working.
          </p>
        )}
        {removal.error !== null && <ErrorMessage error={removal.error} />}
        <div className={pageStyles['actions']}>
          <Button
            variant="danger"
            isPending={removal.isPending}
            onPress={() => {
              removal.run();
            }}
          >
            Remove
          </Button>
          <Button onPress={close}>Cancel</Button>
        </div>
      </Dialog>
    </>
  );
}
