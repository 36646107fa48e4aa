import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { DeadLink, isDeadLink } from './dead-link.tsx';
import { EntryPage } from './entry-page.tsx';
import { SignInLink } from './sign-in-link.tsx';
import { NewPasswordField } from './password-field.tsx';
import { useLinkToken } from './use-link-token.ts';

/** `/user/reset-password`: sets a new password by the token of the mail, which ends all sessions. */
export function ResetPasswordPage() {
  const { token } = useLinkToken();
  const [isDead, setDead] = useState(token === '');
  const [isDone, setDone] = useState(false);
  if (isDone) {
    return (
      <EntryPage title="Password changed">
        <p role="status">You are signed out everywhere. Sign in with your new password.</p>
        <p>
          <SignInLink>Sign in</SignInLink>
        </p>
      </EntryPage>
    );
  }
  if (isDead) {
    return (
      <EntryPage title="Choose a new password">
        <DeadLink>
          <p>
            <Link to="/forgot-password">Send a new link</Link>
          </p>
        </DeadLink>
      </EntryPage>
    );
  }
  return (
    <EntryPage title="Choose a new password">
      <Form
        submitLabel="Change password"
        onSubmit={async ({ password = '' }) => {
          try {
            await resultOf(api.POST('/api/console/password-reset/confirm', { body: { token, password } }));
          } catch (error) {
            if (isDeadLink(error)) setDead(true);
            throw error;
          }
        }}
        onDone={() => {
          setDone(true);
        }}
      >
        {(errors) => <NewPasswordField error={errors['password']} />}
      </Form>
    </EntryPage>
  );
}
