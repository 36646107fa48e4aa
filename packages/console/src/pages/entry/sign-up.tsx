import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { EntryPage } from './entry-page.tsx';
import { SignInLink } from './sign-in-link.tsx';
import { NewPasswordField } from './password-field.tsx';

/** `/user/sign-up`: the same response for a known and an unknown address. */
export function SignUpPage() {
  const [email, setEmail] = useState<string | null>(null);
  if (email !== null) {
    return (
      <EntryPage title="Check your email">
        <p role="status">
          We sent a message to <strong>{email}</strong>. Open its link within 24 hours to finish signing up.
        </p>
        <p>
          <SignInLink>Back to the sign-in</SignInLink>
        </p>
      </EntryPage>
    );
  }
  return (
    <EntryPage title="Create your account">
      <Form
        submitLabel="Sign up"
        onSubmit={async (values) => {
          const { email: address = '', name = '', password = '' } = values;
          await resultOf(api.POST('/api/console/sign-up', { body: { email: address, name, password } }));
          return address;
        }}
        onDone={setEmail}
      >
        {(errors) => (
          <>
            <TextField label="Name" name="name" autoComplete="name" error={errors['name']} />
            <TextField
              label="Email"
              name="email"
              type="email"
              autoComplete="username"
              error={errors['email']}
              maxLength={254}
            />
            <NewPasswordField error={errors['password']} />
          </>
        )}
      </Form>
      <p>
        Already have an account? <SignInLink>Sign in</SignInLink>
      </p>
    </EntryPage>
  );
}
