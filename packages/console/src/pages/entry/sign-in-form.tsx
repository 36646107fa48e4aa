import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { SecondStep, Session } from '../../api/client.ts';
import { passkeySupportQuery } from '../../api/passkeys.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { PasskeyButton, useIsSigningInByPasskey } from './passkey-button.tsx';
import { SecondStepForm } from './second-step-form.tsx';
import { usePasskeyAutofill } from './use-passkey-autofill.ts';

type SignInFormProps = { email?: string; onSignedIn: (session: Session) => void };

/** Email and password, as password managers fill them in, and then the second step if the account has one. */
export function SignInForm({ email = '', onSignedIn }: SignInFormProps) {
  const { data: passkeys } = useQuery(passkeySupportQuery);
  const [step, setStep] = useState<SecondStep | null>(null);
  const [hasExpired, setExpired] = useState(false);
  // The browser allows one prompt: suggestions that came after the button's would end it.
  const isPrompting = useIsSigningInByPasskey();
  const canSuggest = passkeys?.at === 'here' && step === null && !isPrompting;
  const autofillError = usePasskeyAutofill(canSuggest, onSignedIn);
  if (step !== null) {
    return (
      <SecondStepForm
        step={step}
        onSignedIn={onSignedIn}
        onBack={(reason) => {
          setExpired(reason === 'expired');
          setStep(null);
        }}
      />
    );
  }
  return (
    <>
      {hasExpired && <p role="alert">The sign-in took too long. Enter your password again.</p>}
      {autofillError !== null && <ErrorMessage error={autofillError} />}
      <PasswordForm
        email={email}
        onDone={(result) => {
          setExpired(false);
          if ('session_id' in result) onSignedIn(result);
          else setStep(result);
        }}
      />
      {passkeys?.at === 'here' && (
        <PasskeyButton label="Sign in with a passkey" step={{}} onSignedIn={onSignedIn} />
      )}
    </>
  );
}

function PasswordForm({ email, onDone }: { email: string; onDone: (result: Session | SecondStep) => void }) {
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
      onDone={onDone}
    >
      {(errors) => (
        <>
          <TextField
            label="Email"
            name="email"
            type="email"
            autoComplete="username webauthn"
            defaultValue={email}
            error={errors['email']}
            autoFocus={email === ''}
          />
          <TextField
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            error={errors['password']}
            autoFocus={email !== ''}
          />
        </>
      )}
    </Form>
  );
}
