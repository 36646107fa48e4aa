import { api, resultOf } from '../../api/client.ts';
import type { Session } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';

type SignInFormProps = { email?: string; onSignedIn: (session: Session) => void };

/** Email and password, as password managers fill them in. */
export function SignInForm({ email = '', onSignedIn }: SignInFormProps) {
  return (
    <Form
      submitLabel="Sign in"
      onSubmit={(values) =>
        resultOf(
          api.POST('/api/console/session', {
            body: { email: values['email'] ?? '', password: values['password'] ?? '' },
          }),
        )
      }
      onDone={onSignedIn}
    >
      {(errors) => (
        <>
          <TextField
            label="Email"
            name="email"
            type="email"
            autoComplete="username"
            defaultValue={email}
            error={errors['email']}
            maxLength={254}
          />
          <TextField
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            error={errors['password']}
          />
        </>
      )}
    </Form>
  );
}
