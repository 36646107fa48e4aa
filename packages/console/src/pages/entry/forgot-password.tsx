import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { CheckEmail } from './check-email.tsx';
import { EntryPage } from './entry-page.tsx';
import { SignInLink } from './sign-in-link.tsx';

/** `/user/forgot-password`: the same response for a known and an unknown address. */
export function ForgotPasswordPage() {
  const [email, setEmail] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  const send = (address: string) =>
    resultOf(api.POST('/api/console/password-reset', { body: { email: address } }));
  if (email !== null) {
    return (
      <CheckEmail
        onSendAgain={() => send(email)}
        onCorrect={() => {
          setTyped(email);
          setEmail(null);
        }}
      >
        If <strong>{email}</strong> has an account, we sent a link to set a new password. It is valid for an
        hour.
      </CheckEmail>
    );
  }
  return (
    <EntryPage title="Reset your password">
      <Form
        submitLabel="Send the link"
        onSubmit={async ({ email: address = '' }) => {
          await send(address);
          return address;
        }}
        onDone={setEmail}
      >
        {(errors) => (
          <TextField
            label="Email"
            name="email"
            type="email"
            autoComplete="username"
            defaultValue={typed}
            error={errors['email']}
            maxLength={254}
          />
        )}
      </Form>
      <p>
        <SignInLink>Back to the sign-in</SignInLink>
      </p>
    </EntryPage>
  );
}
