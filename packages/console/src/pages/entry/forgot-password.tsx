import { api, resultOf } from '../../api/client.ts';
import { LinkByEmail } from './link-by-email.tsx';
import { SignInLink } from './sign-in-link.tsx';

/** `/user/forgot-password`: the same response for a known and an unknown address. */
export function ForgotPasswordPage() {
  return (
    <LinkByEmail
      title="Reset your password"
      submitLabel="Send the link"
      send={(email) => resultOf(api.POST('/api/console/password-reset', { body: { email } }))}
      sent={(email) => (
        <>If {email} has an account, we sent a link to set a new password. It is valid for an hour.</>
      )}
    >
      <SignInLink>Back to sign in</SignInLink>
    </LinkByEmail>
  );
}
