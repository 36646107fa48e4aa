import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onSessionExpired, setCsrfToken } from '../api/client.ts';
import { sessionQuery } from '../api/session.ts';
import { SignInForm } from '../pages/entry/sign-in-form.tsx';
import { Dialog } from '../ui/dialog.tsx';

/** Signs in again over the page, so that nothing typed is lost. */
export function SessionExpired({ email, sessionId }: { email: string; sessionId: number | undefined }) {
  const [isExpired, setExpired] = useState(false);
  const queryClient = useQueryClient();
  useEffect(() => {
    onSessionExpired(() => {
      setExpired(true);
    });
    return () => {
      onSessionExpired(() => undefined);
    };
  }, []);
  // Another tab has signed in again.
  useEffect(() => {
    setExpired(false);
  }, [sessionId]);
  return (
    <Dialog title="Your session has ended" isOpen={isExpired} canDismiss={false} onClose={() => undefined}>
      <p>Sign in again to continue. What you have typed is still here.</p>
      <SignInForm
        email={email}
        onSignedIn={(session) => {
          setCsrfToken(session.csrf_token);
          queryClient.setQueryData(sessionQuery.queryKey, session);
          setExpired(false);
          void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
        }}
      />
    </Dialog>
  );
}
