import { useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError, api, resultOf, setCsrfToken } from '../../api/client.ts';
import type { Session } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Form } from '../../ui/form/form.tsx';
import { DeadLink, isDeadLink } from './dead-link.tsx';
import { EntryPage } from './entry-page.tsx';
import { LinkByEmail } from './link-by-email.tsx';
import { NewPasswordField } from './password-field.tsx';
import { SignInLink } from './sign-in-link.tsx';
import { useLinkToken } from './use-link-token.ts';

/**
 * `/user/verify-email`: a new address is confirmed by the link alone, a sign-up with a password that is chosen here
 * (docs/design/identity.md); the link says which it is. Nothing happens before the button is pressed: mail scanners open links.
 */
export function VerifyEmailPage() {
  const { token, purpose } = useLinkToken();
  const [isDead, setDead] = useState(token === '');
  const parts = {
    token,
    onDead: () => {
      setDead(true);
    },
  };
  if (purpose === 'sign-up') return isDead ? <DeadSignUp /> : <ConfirmSignUp {...parts} />;
  return isDead ? <DeadChange /> : <ConfirmChange {...parts} />;
}

type ConfirmProps = { token: string; onDead: () => void };

async function verify(body: { token: string; password?: string }, onDead: () => void): Promise<string> {
  try {
    return (await resultOf(api.POST('/api/console/verify-email', { body }))).email;
  } catch (error) {
    if (isDeadLink(error)) onDead();
    throw error;
  }
}

/** Ends signed in. */
function ConfirmSignUp({ token, onDead }: ConfirmProps) {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return (
    <EntryPage title="Finish signing up">
      <p>Your email address is confirmed once you choose a password.</p>
      <Form
        submitLabel="Finish signing up"
        onSubmit={async ({ password = '' }) => {
          const email = await verify({ token, password }, onDead);
          return await sessionOf(email, password);
        }}
        onDone={(session) => {
          if (session === null) {
            void navigate({ to: '/sign-in', search: {} });
            return;
          }
          setCsrfToken(session.csrf_token);
          queryClient.clear();
          queryClient.setQueryData(sessionQuery.queryKey, session);
          void navigate({ to: '/' });
        }}
      >
        {(errors) => <NewPasswordField error={errors['password']} />}
      </Form>
    </EntryPage>
  );
}

/** A session of the account just made; null where the sign-in is refused, which doesn't undo the sign-up. */
async function sessionOf(email: string, password: string): Promise<Session | null> {
  try {
    const begun = await resultOf(api.POST('/api/console/session', { body: { email, password } }));
    return 'csrf_token' in begun ? begun : null;
  } catch (error) {
    if (error instanceof ApiError) return null;
    throw error;
  }
}

function ConfirmChange({ token, onDead }: ConfirmProps) {
  const [verified, setVerified] = useState<string | null>(null);
  if (verified !== null) {
    return (
      <EntryPage title="Email address confirmed">
        <p role="status">{verified} is now the address of your account.</p>
        <p>
          <Link to="/">Go to the overview</Link>
        </p>
      </EntryPage>
    );
  }
  return (
    <EntryPage title="Confirm your email address">
      <p>Confirm that this address is yours.</p>
      <Form submitLabel="Confirm" onSubmit={() => verify({ token }, onDead)} onDone={setVerified}>
        {() => null}
      </Form>
    </EntryPage>
  );
}

function DeadChange() {
  return (
    <EntryPage title="Confirm your email address">
      <DeadLink>
        <p>
          If the address of your account is still the former one, <Link to="/account">change it again</Link>{' '}
          to get a new link.
        </p>
      </DeadLink>
    </EntryPage>
  );
}

/** A link that was used has made the account: then the new mail says so. */
function DeadSignUp() {
  return (
    <LinkByEmail
      title="Finish signing up"
      intro={
        <DeadLink>
          <p>If you have finished signing up already, sign in. Otherwise we can send a new link.</p>
        </DeadLink>
      }
      submitLabel="Send a new link"
      send={(email) => resultOf(api.POST('/api/console/sign-up/resend', { body: { email } }))}
      sent={(email) => <>If you signed up with {email} in the last 24 hours, we sent a new link.</>}
    >
      <SignInLink>Sign in</SignInLink>
    </LinkByEmail>
  );
}
