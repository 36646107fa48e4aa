import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Form } from '../../../ui/form/form.tsx';
import { TextField } from '../../../ui/form/text-field.tsx';
import { Moment } from '../../../ui/moment.tsx';
import pageStyles from '../../../ui/page/page.module.css';
import { ErrorMessage } from '../../../ui/page/states.tsx';
import { useHiddenAfterAbsence } from '../../../ui/secret/use-hidden-after-absence.ts';
import { Factor, RemoveFactor, useFactorAction } from './factor.tsx';
import type { FactorProps } from './factor.tsx';
import { QrCode } from './qr-code.tsx';

type Setup = { secret: string; otpauth_url: string };

/** An app that shows a new code every 30 seconds. */
export function AuthenticatorApp({ factors, onChanged }: FactorProps) {
  const [setup, setSetup] = useState<Setup | null>(null);
  const begin = useFactorAction(() => resultOf(api.POST('/api/console/two-factor/totp')), setSetup);
  const { totp, passkeys } = factors;
  const action =
    totp === null ? (
      <Button
        isPending={begin.isPending}
        onPress={() => {
          begin.run();
        }}
      >
        Set up authenticator app
      </Button>
    ) : (
      <RemoveFactor
        what="authenticator app"
        consequence="Its codes no longer sign you in. Delete the entry in your app, too."
        isLast={passkeys.length === 0}
        remove={() => resultOf(api.DELETE('/api/console/two-factor/totp'))}
        onRemoved={onChanged}
      />
    );
  return (
    <Factor title="Authenticator app" action={action}>
      <p className={pageStyles['muted']}>
        {totp === null ? (
          'Codes from an app such as 1Password, Google Authenticator or Aegis.'
        ) : (
          <>
            Set up <Moment at={totp.enabled_at} />.
          </>
        )}
      </p>
      {begin.error !== null && <ErrorMessage error={begin.error} />}
      {setup !== null && (
        <SetUpApp
          setup={setup}
          onClose={() => {
            setSetup(null);
          }}
          onEnabled={(codes) => {
            setSetup(null);
            onChanged(codes);
          }}
        />
      )}
    </Factor>
  );
}

type SetUpAppProps = { setup: Setup; onClose: () => void; onEnabled: (codes: string[] | null) => void };

function SetUpApp({ setup, onClose, onEnabled }: SetUpAppProps) {
  const isHidden = useHiddenAfterAbsence();
  return (
    <Dialog title="Set up authenticator app" isOpen onClose={onClose}>
      {isHidden ? (
        <p role="status">
          The secret was hidden because this tab was in the background. Close and start again.
        </p>
      ) : (
        <>
          <p>Scan this code with your authenticator app, or enter the secret there.</p>
          <QrCode text={setup.otpauth_url} />
          <div className={pageStyles['secret']}>
            <span>
              Secret <code>{setup.secret.replace(/(.{4})(?=.)/g, '$1 ')}</code>
            </span>
            <CopyButton what="secret" text={setup.secret} />
          </div>
        </>
      )}
      <Form
        submitLabel="Turn on"
        onCancel={onClose}
        onSubmit={({ code = '' }) =>
          resultOf(api.POST('/api/console/two-factor/totp/confirm', { body: { code } }))
        }
        onDone={({ recovery_codes }) => {
          onEnabled(recovery_codes);
        }}
      >
        {(errors) => (
          <TextField
            label="Code from the app"
            name="code"
            autoComplete="one-time-code"
            inputMode="numeric"
            description="The 6 digits that the app shows now."
            error={errors['code'] === undefined ? undefined : `The code ${errors['code']}.`}
            maxLength={10}
            autoFocus
          />
        )}
      </Form>
    </Dialog>
  );
}
