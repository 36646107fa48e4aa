import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { CheckEmail } from './check-email.tsx';
import { EntryPage } from './entry-page.tsx';
import { SignInLink } from './sign-in-link.tsx';

type SignUp = { email: string; name: string };

/** `/user/sign-up`: the same response for a known and an unknown address. */
export function SignUpPage() {
  const [sent, setSent] = useState<SignUp | null>(null);
  const [typed, setTyped] = useState<SignUp>({ email: '', name: '' });
  if (sent !== null) {
    const { email } = sent;
    return (
      <CheckEmail
        onSendAgain={() => resultOf(api.POST('/api/console/sign-up/resend', { body: { email } }))}
        onCorrect={() => {
          setTyped(sent);
          setSent(null);
        }}
      >
        We sent a message to <strong>{email}</strong>. Open its link within 24 hours to choose a password and
        finish signing up.
      </CheckEmail>
    );
  }
  return (
    <EntryPage title="Create your account">
      <Form
        submitLabel="Sign up"
        onSubmit={async (values) => {
          const { email: address = '', name = '' } = values;
          await resultOf(api.POST('/api/console/sign-up', { body: { email: address, name } }));
          return { email: address, name };
        }}
        onDone={setSent}
      >
        {(errors) => (
          <>
            <TextField
              label="Name"
              name="name"
              autoComplete="name"
              autoFocus
              defaultValue={typed.name}
              error={errors['name']}
            />
            <TextField
              label="Email"
              name="email"
              type="email"
              autoComplete="username"
              defaultValue={typed.email}
              error={errors['email']}
              maxLength={254}
            />
          </>
        )}
      </Form>
      <p>
        Already have an account? <SignInLink>Sign in</SignInLink>
      </p>
    </EntryPage>
  );
}
