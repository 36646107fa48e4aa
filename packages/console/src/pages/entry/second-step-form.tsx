import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { ApiError, api, resultOf } from '../../api/client.ts';
import type { SecondStep, Session } from '../../api/client.ts';
import { passkeySupportQuery } from '../../api/passkeys.ts';
import type { PasskeySupport } from '../../api/passkeys.ts';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { PasskeyButton } from './passkey-button.tsx';
import styles from './entry.module.css';

type Factor = SecondStep['factors'][number];

type SecondStepProps = {
  step: SecondStep;
  onSignedIn: (session: Session) => void;
  onBack: (reason: 'expired' | 'cancelled') => void;
};

const CHANGE_TO: Record<Factor, string> = {
  totp: 'Use your authenticator app',
  passkey: 'Use a passkey',
  recovery_code: 'Use a recovery code',
};

/** The second step of a sign-in: a code of the app, a passkey or a recovery code. */
export function SecondStepForm({ step, onSignedIn, onBack }: SecondStepProps) {
  const { data: passkeys } = useQuery(passkeySupportQuery);
  const [chosen, setChosen] = useState<Factor | null>(null);
  const usable = step.factors.filter((factor) => factor !== 'passkey' || passkeys?.at === 'here');
  const factor = chosen ?? usable[0];
  return (
    <div className={styles['step']}>
      <h2>Two-factor authentication</h2>
      {factor === undefined && <Unusable passkeys={passkeys} />}
      {factor === 'passkey' && (
        <>
          <p>Confirm that it’s you with a passkey or security key.</p>
          <PasskeyButton
            label="Use a passkey"
            variant="primary"
            step={{ sign_in_token: step.sign_in_token }}
            onSignedIn={onSignedIn}
            onExpired={() => {
              onBack('expired');
            }}
          />
        </>
      )}
      {(factor === 'totp' || factor === 'recovery_code') && (
        <CodeForm key={factor} factor={factor} step={step} onSignedIn={onSignedIn} onBack={onBack} />
      )}
      <div className={styles['choices']}>
        {usable
          .filter((other) => other !== factor)
          .map((other) => (
            <Button
              key={other}
              variant="quiet"
              onPress={() => {
                setChosen(other);
              }}
            >
              {CHANGE_TO[other]}
            </Button>
          ))}
        <Button
          variant="quiet"
          onPress={() => {
            onBack('cancelled');
          }}
        >
          Back to the password
        </Button>
      </div>
    </div>
  );
}

/** All that is left are passkeys, which don't work on this page. */
function Unusable({ passkeys }: { passkeys: PasskeySupport | undefined }) {
  if (passkeys?.at !== 'elsewhere') {
    return <p>Your account has only passkeys, and they don’t work at this address. Contact support.</p>;
  }
  return (
    <p>
      Your account has only passkeys. They work at{' '}
      <a href={`${passkeys.origin}/user/sign-in`}>{passkeys.origin}</a>.
    </p>
  );
}

const ENDPOINTS = {
  totp: '/api/console/session/totp',
  recovery_code: '/api/console/session/recovery-code',
} as const;

function CodeForm({
  factor,
  step,
  onSignedIn,
  onBack,
}: SecondStepProps & { factor: 'totp' | 'recovery_code' }) {
  const isTotp = factor === 'totp';
  async function send({ code = '' }: Readonly<Record<string, string>>): Promise<Session> {
    try {
      const body = { sign_in_token: step.sign_in_token, code };
      return await resultOf(api.POST(ENDPOINTS[factor], { body }));
    } catch (error) {
      if (error instanceof ApiError && error.problem?.status === 401) onBack('expired');
      throw error;
    }
  }
  return (
    <Form submitLabel="Verify" onSubmit={send} onDone={onSignedIn}>
      {(errors) => (
        <TextField
          label={isTotp ? 'Authentication code' : 'Recovery code'}
          name="code"
          autoComplete={isTotp ? 'one-time-code' : 'off'}
          {...(isTotp ? { inputMode: 'numeric' } : {})}
          description={
            isTotp
              ? 'Enter the 6 digits that your authenticator app shows.'
              : 'Enter one of the codes that you saved when you set up two-factor authentication. Each works once.'
          }
          error={errors['code'] === undefined ? undefined : sentence(errors['code'])}
          maxLength={100}
          autoFocus
        />
      )}
    </Form>
  );
}

function sentence(message: string): string {
  return `This code ${message}.`;
}
