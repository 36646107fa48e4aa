import { useQueryClient } from '@tanstack/react-query';
import { setCsrfToken } from '../api/client.ts';
import { sessionQuery } from '../api/session.ts';
import { SignInForm } from '../pages/entry/sign-in-form.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Link, useLocation } from '@tanstack/react-router';

type SessionExpiredProps = { email: string; isOpen: boolean; onSignedIn: () => void };

/** Signs in again over the page, so that nothing typed is lost. */
export function SessionExpired({ email, isOpen, onSignedIn }: SessionExpiredProps) {
  const queryClient = useQueryClient();
  const { href } = useLocation();
  return (
    <Dialog title="Your session has ended" isOpen={isOpen} canDismiss={false} onClose={() => undefined}>
      <p>Sign in again to continue. What you have typed is still here.</p>
      <SignInForm
        email={email}
        onSignedIn={(session) => {
          setCsrfToken(session.csrf_token);
          queryClient.setQueryData(sessionQuery.queryKey, session);
          onSignedIn();
          void queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
        }}
      />
      <p>
        <Link to="/sso" search={{ next: href }}>
          Leave this page, and sign in with single sign-on
        </Link>
      </p>
    </Dialog>
  );
}
