import { useQuery } from '@tanstack/react-query';
import { createContext, use, useCallback, useState } from 'react';
import type { ReactNode } from 'react';
import { ApiError, api, resultOf } from '../../api/client.ts';
import { askForPasskey, passkeySupportQuery, plain } from '../../api/passkeys.ts';
import { sessionQuery } from '../../api/session.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { twoFactorQuery } from './queries.ts';

type RunConfirmed = <T>(action: () => Promise<T>) => Promise<T>;

/** The dialog was closed. */
class ConfirmationCancelled extends ApiError {
  constructor() {
    super(null);
    this.name = 'ConfirmationCancelled';
    this.message = 'Nothing has changed: confirm that it’s you to continue.';
  }
}

const Confirmation = createContext<RunConfirmed>((action) => action());

/** Runs an action; if the API wants the session confirmed first, asks for that and runs it again. */
export function useConfirmed(): RunConfirmed {
  return use(Confirmation);
}

type Waiting = { resolve: () => void; reject: (reason: ConfirmationCancelled) => void };

export function ConfirmationProvider({ children }: { children: ReactNode }) {
  const [waiting, setWaiting] = useState<Waiting | null>(null);
  const run = useCallback<RunConfirmed>(async (action) => {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ApiError) || error.problem?.code !== 'confirmation_required') throw error;
      await new Promise<void>((resolve, reject) => {
        setWaiting({ resolve, reject });
      });
      return action();
    }
  }, []);
  return (
    <Confirmation value={run}>
      {children}
      <Dialog
        title="Confirm it’s you"
        isOpen={waiting !== null}
        onClose={() => {
          waiting?.reject(new ConfirmationCancelled());
          setWaiting(null);
        }}
      >
        <ConfirmForm
          onDone={() => {
            waiting?.resolve();
            setWaiting(null);
          }}
        />
      </Dialog>
    </Confirmation>
  );
}

/** The password, or a second factor where the account has one. */
function ConfirmForm({ onDone }: { onDone: () => void }) {
  const { data: factors, error } = useQuery(twoFactorQuery);
  if (factors === undefined) return error === null ? <Skeleton rows={2} /> : <ErrorMessage error={error} />;
  return (
    <>
      <p>Some actions need you to have signed in or confirmed within the last 15 minutes.</p>
      {factors.enabled ? (
        <ConfirmByCode hasApp={factors.totp !== null} onDone={onDone} />
      ) : (
        <ConfirmByPassword onDone={onDone} />
      )}
      {factors.passkeys.length > 0 && <ConfirmByPasskey onDone={onDone} />}
    </>
  );
}

function ConfirmByPassword({ onDone }: { onDone: () => void }) {
  const { data: session } = useQuery(sessionQuery);
  return (
    <Form
      submitLabel="Confirm"
      onSubmit={({ password = '' }) =>
        resultOf(api.POST('/api/console/session/confirm', { body: { password } }))
      }
      onDone={onDone}
    >
      {(errors) => (
        <>
          <input type="hidden" name="username" autoComplete="username" value={session?.email ?? ''} />
          <TextField
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            error={errors['password']}
            autoFocus
          />
        </>
      )}
    </Form>
  );
}

/** As an authenticator app shows it; a recovery code is longer. */
const APP_CODE = /^\s*(?:\d\s*){6}$/;

function ConfirmByCode({ hasApp, onDone }: { hasApp: boolean; onDone: () => void }) {
  return (
    <Form
      submitLabel="Confirm"
      onSubmit={({ code = '' }) => {
        const by = hasApp && APP_CODE.test(code) ? 'totp' : 'recovery-code';
        return resultOf(api.POST(`/api/console/session/confirm/${by}`, { body: { code } }));
      }}
      onDone={onDone}
    >
      {(errors) => (
        <TextField
          label={hasApp ? 'Authentication code or recovery code' : 'Recovery code'}
          name="code"
          autoComplete="one-time-code"
          error={errors['code'] === undefined ? undefined : `This code ${errors['code']}.`}
          maxLength={100}
          autoFocus
        />
      )}
    </Form>
  );
}

function ConfirmByPasskey({ onDone }: { onDone: () => void }) {
  const { data: support } = useQuery(passkeySupportQuery);
  const [error, setError] = useState<unknown>(null);
  if (support?.at !== 'here') return null;
  async function confirm() {
    setError(null);
    try {
      const options = await resultOf(api.POST('/api/console/session/confirm/passkey/options'));
      const credential = plain(await askForPasskey(options));
      await resultOf(api.POST('/api/console/session/confirm/passkey', { body: { credential } }));
      onDone();
    } catch (failure) {
      setError(failure);
    }
  }
  return (
    <>
      {error !== null && <ErrorMessage error={error} />}
      <Button onPress={() => void confirm()}>Use a passkey</Button>
    </>
  );
}
