import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { EntryPage } from './entry-page.tsx';
import { SignInLink } from './sign-in-link.tsx';
import { NewPasswordField } from './password-field.tsx';
import { useLinkToken } from './use-link-token.ts';

/** `/user/reset-password`: sets a new password by the token of the mail, which ends all sessions. */
export function ResetPasswordPage() {
  const token = useLinkToken();
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
  return (
    <EntryPage title="Choose a new password">
      <Form
        submitLabel="Change password"
        onSubmit={({ password = '' }) =>
          resultOf(api.POST('/api/console/password-reset/confirm', { body: { token, password } }))
        }
        onDone={() => {
          setDone(true);
        }}
      >
        {(errors) => <NewPasswordField error={errors['password']} />}
      </Form>
      <p>
        <Link to="/forgot-password">Send a new link</Link>
      </p>
    </EntryPage>
  );
}
