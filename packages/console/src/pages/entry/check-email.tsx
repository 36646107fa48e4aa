import { useMutation } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import styles from '../../ui/page/page.module.css';
import { EntryPage } from './entry-page.tsx';
import { SignInLink } from './sign-in-link.tsx';

/** Long enough for a mail to come; the API counts how many are sent (docs/design/identity.md). */
const SEND_AGAIN_AFTER_SEC = 60;

type CheckEmailProps = {
  /** What was sent, and how long it is valid. */
  children: ReactNode;
  onSendAgain: () => Promise<unknown>;
  /** Back to the form, where the address can be corrected. */
  onCorrect: () => void;
};

/** After a mail with a link was sent: what to do if it doesn't come. */
export function CheckEmail({ children, onSendAgain, onCorrect }: CheckEmailProps) {
  const again = useMutation({ mutationFn: onSendAgain });
  const waitSec = useCountdown(again.submittedAt);
  return (
    <EntryPage title="Check your email">
      <p role="status">{again.isSuccess ? 'We sent it again.' : children}</p>
      <p>If nothing comes within a few minutes, look in your spam folder and check the address.</p>
      {again.isError && <ErrorMessage error={again.error} />}
      <div className={styles['actions']}>
        <Button
          isPending={again.isPending}
          isDisabled={waitSec > 0}
          onPress={() => {
            again.mutate();
          }}
        >
          {waitSec > 0 ? `Send again in ${String(waitSec)} s` : 'Send again'}
        </Button>
        <Button onPress={onCorrect}>Use another address</Button>
      </div>
      <p>
        <SignInLink>Back to sign in</SignInLink>
      </p>
    </EntryPage>
  );
}

const TICK_MS = 1_000;

/** Seconds until it may be sent again, counted anew after each time. By the browser's uptime: no clock matters. */
function useCountdown(restartedBy: number): number {
  const [leftSec, setLeftSec] = useState(SEND_AGAIN_AFTER_SEC);
  useEffect(() => {
    const startedMs = performance.now();
    const left = () => Math.max(Math.ceil(SEND_AGAIN_AFTER_SEC - (performance.now() - startedMs) / 1_000), 0);
    setLeftSec(left());
    const timer = setInterval(() => {
      setLeftSec(left());
    }, TICK_MS);
    return () => {
      clearInterval(timer);
    };
  }, [restartedBy]);
  return leftSec;
}
