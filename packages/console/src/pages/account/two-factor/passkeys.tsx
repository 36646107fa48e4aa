import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, nullIf, resultOf } from '../../../api/client.ts';
import { createPasskey, passkeySupportQuery, plain } from '../../../api/passkeys.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Form } from '../../../ui/form/form.tsx';
import { TextField } from '../../../ui/form/text-field.tsx';
import { Moment } from '../../../ui/moment.tsx';
import pageStyles from '../../../ui/page/page.module.css';
import { deviceOf } from '../user-agent.ts';
import { useConfirmed } from '../confirmation.tsx';
import { Factor, RemoveFactor } from './factor.tsx';
import type { FactorProps, Factors } from './factor.tsx';
import styles from './two-factor.module.css';

type Passkey = Factors['passkeys'][number];

/** Passkeys and security keys, each with a name of the owner's. */
export function Passkeys({ factors, onChanged }: FactorProps) {
  const { data: support } = useQuery(passkeySupportQuery);
  const { passkeys, totp } = factors;
  return (
    <Factor title="Passkeys" action={support?.at === 'here' && <AddPasskey onChanged={onChanged} />}>
      <p className={pageStyles['muted']}>
        {support?.at === 'elsewhere' ? (
          <>
            Passkeys work at <a href={`${support.origin}/user/account`}>{support.origin}</a>. Open this page
            there to add one.
          </>
        ) : support?.at === 'none' ? (
          'Passkeys are not available: they need a domain name, TLS and a browser that supports them.'
        ) : (
          'Sign in with your fingerprint, face, screen lock or a security key, also without your password.'
        )}
      </p>
      {passkeys.length > 0 && (
        <ul className={styles['passkeys']} aria-label="Passkeys">
          {passkeys.map((passkey) => (
            <PasskeyItem
              key={passkey.passkey_id}
              passkey={passkey}
              isLast={passkeys.length === 1 && totp === null}
              onChanged={onChanged}
            />
          ))}
        </ul>
      )}
    </Factor>
  );
}

type ItemProps = { passkey: Passkey; isLast: boolean } & Pick<FactorProps, 'onChanged'>;

function PasskeyItem({ passkey, isLast, onChanged }: ItemProps) {
  const { passkey_id, name, created_at, last_used_at } = passkey;
  const params = { path: { passkey_id } };
  return (
    <li className={styles['passkey']}>
      <span className={styles['name']}>
        <bdi>{name}</bdi>
        <span className={pageStyles['muted']}>
          Added <Moment at={created_at} />
          {last_used_at === null ? ', never used' : ', last used '}
          {last_used_at !== null && <Moment at={last_used_at} />}
        </span>
      </span>
      <span className={pageStyles['actions']}>
        <RenamePasskey passkey={passkey} onChanged={onChanged} />
        <RemoveFactor
          what={`passkey ${name}`}
          consequence="It no longer signs you in. Delete it on your device, too."
          isLast={isLast}
          remove={() =>
            // It may have been removed in another tab.
            nullIf(404, resultOf(api.DELETE('/api/console/two-factor/passkeys/{passkey_id}', { params })))
          }
          onRemoved={onChanged}
        />
      </span>
    </li>
  );
}

function RenamePasskey({ passkey, onChanged }: Pick<ItemProps, 'passkey' | 'onChanged'>) {
  const [isOpen, setOpen] = useState(false);
  const close = () => {
    setOpen(false);
  };
  const params = { path: { passkey_id: passkey.passkey_id } };
  return (
    <>
      <Button
        aria-label={`Rename passkey ${passkey.name}`}
        onPress={() => {
          setOpen(true);
        }}
      >
        Rename
      </Button>
      <Dialog title="Rename passkey" isOpen={isOpen} onClose={close}>
        <Form
          submitLabel="Rename"
          onCancel={close}
          onSubmit={({ name = '' }) =>
            resultOf(api.PATCH('/api/console/two-factor/passkeys/{passkey_id}', { params, body: { name } }))
          }
          onDone={() => {
            close();
            onChanged();
          }}
        >
          {(errors) => (
            <TextField
              label="Name"
              name="name"
              autoComplete="off"
              defaultValue={passkey.name}
              error={errors['name']}
              autoFocus
            />
          )}
        </Form>
      </Dialog>
    </>
  );
}

/** The name first, then the browser's prompt. */
function AddPasskey({ onChanged }: Pick<FactorProps, 'onChanged'>) {
  const [isOpen, setOpen] = useState(false);
  const confirmed = useConfirmed();
  const close = () => {
    setOpen(false);
  };
  async function add(name: string) {
    const options = await confirmed(() => resultOf(api.POST('/api/console/two-factor/passkeys/options')));
    const credential = plain(await createPasskey(options));
    return resultOf(api.POST('/api/console/two-factor/passkeys', { body: { name, credential } }));
  }
  return (
    <>
      <Button
        onPress={() => {
          setOpen(true);
        }}
      >
        Add a passkey
      </Button>
      <Dialog title="Add a passkey" isOpen={isOpen} onClose={close}>
        <p>
          Your browser asks where to keep the passkey: on this device, on your phone, or on a security key.
        </p>
        <Form
          submitLabel="Continue"
          onCancel={close}
          onSubmit={({ name = '' }) => add(name)}
          onDone={({ recovery_codes }) => {
            close();
            onChanged(recovery_codes);
          }}
        >
          {(errors) => (
            <TextField
              label="Name"
              name="name"
              autoComplete="off"
              defaultValue={deviceOf(navigator.userAgent)}
              description="To tell your passkeys apart."
              error={errors['name']}
              autoFocus
            />
          )}
        </Form>
      </Dialog>
    </>
  );
}
