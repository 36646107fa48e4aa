import { Link, useSearch } from '@tanstack/react-router';
import { goToSso } from '../../../api/sso.ts';
import { Form } from '../../../ui/form/form.tsx';
import { TextField } from '../../../ui/form/text-field.tsx';
import { EntryPage } from '../entry-page.tsx';

/** `/user/sso?next=…`: the address says which company’s identity provider signs its owner in. */
export function SsoPage() {
  const { next } = useSearch({ from: '/sso' });
  return (
    <EntryPage title="Single sign-on">
      <p>Sign in with the account that you have at your company.</p>
      <Form
        submitLabel="Continue"
        onSubmit={({ email = '' }) => goToSso(email, next)}
        onDone={() => undefined}
        fieldOfCode={{ sso_not_available: 'email' }}
      >
        {(errors) => (
          <TextField
            label="Work email"
            name="email"
            type="email"
            autoComplete="username"
            error={errors['email']}
            autoFocus
          />
        )}
      </Form>
      <p>
        <Link to="/sign-in" search={next === undefined ? {} : { next }}>
          Sign in with a password or passkey
        </Link>
      </p>
    </EntryPage>
  );
}
