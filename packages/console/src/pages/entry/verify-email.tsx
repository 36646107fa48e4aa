import { useState } from 'react';
import { ApiError, api, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { EntryPage } from './entry-page.tsx';
import { SignInLink } from './sign-in-link.tsx';
import { useLinkToken } from './use-link-token.ts';

/**
 * `/user/verify-email`: a new address is confirmed by the link alone, a sign-up also by its password (ADR 0025),
 * which is asked for when the API asks for it. Nothing happens before the button is pressed: mail scanners open
 * links.
 */
export function VerifyEmailPage() {
  const token = useLinkToken();
  const [needsPassword, setNeedsPassword] = useState(false);
  const [verified, setVerified] = useState<string | null>(null);
  if (verified !== null) {
    return (
      <EntryPage title="Email address confirmed">
        <p role="status">{verified} is now the address of your account.</p>
        <p>
          <SignInLink>Sign in</SignInLink>
        </p>
      </EntryPage>
    );
  }
  async function verify({ password }: Readonly<Record<string, string>>): Promise<string> {
    const body = password === undefined ? { token } : { token, password };
    try {
      return (await resultOf(api.POST('/api/console/verify-email', { body }))).email;
    } catch (error) {
      const fields = error instanceof ApiError ? (error.problem?.errors ?? []) : [];
      if (fields.some(({ field }) => field === 'password')) setNeedsPassword(true);
      throw error;
    }
  }
  return (
    <EntryPage title="Confirm your email address">
      <p>
        {needsPassword
          ? 'Enter the password that you chose when you signed up.'
          : 'Confirm that this address is yours.'}
      </p>
      <Form submitLabel="Confirm" onSubmit={verify} onDone={setVerified}>
        {(errors) =>
          needsPassword && (
            <TextField
              label="Password"
              name="password"
              type="password"
              autoComplete="current-password"
              error={errors['password']}
            />
          )
        }
      </Form>
    </EntryPage>
  );
}
