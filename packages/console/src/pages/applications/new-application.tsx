import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { Application } from '../../api/client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { DialogState } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { RadioCards } from '../../ui/form/radio-cards.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Credentials } from './credentials.tsx';
import { DEFAULT_LIFESPAN_SEC, HOUR_SEC, LifespanField, lifespanSecOf } from './lifespan-field.tsx';
import { RedirectUrisField, redirectUrisOf } from './redirect-uris-field.tsx';

const TYPES = [
  {
    value: 'automatic',
    label: 'Automatic',
    description: 'Your program gets tokens itself with the client ID and secret. For servers.',
  },
  {
    value: 'manual',
    label: 'Manual',
    description: 'You generate tokens here and paste them into your program. For scripts and tools.',
  },
  {
    value: 'authorization',
    label: 'Authorization',
    description: 'Other people allow your application to call the API for them. For applications with users.',
  },
] as const;

const CLIENTS = [
  { value: 'confidential', label: 'On a server, which keeps a client secret' },
  { value: 'public', label: 'On people’s devices' },
] as const;

function typeOf(values: Readonly<Record<string, string>>): Application['type'] {
  return TYPES.find(({ value }) => value === values['type'])?.value ?? 'automatic';
}

/** `client_secret` is null for a client on people's devices, which can't keep one. */
export type CreatedApplication = Application & { client_secret: string | null };

type NewApplicationProps = DialogState & {
  /** Called when the dialog of the credentials, if there are any, is closed. */
  onCreated: (application: CreatedApplication) => void;
};

/** The dialog "New Application", then its credentials, shown once. */
export function NewApplication({ isOpen, onClose, onCreated }: NewApplicationProps) {
  const [created, setCreated] = useState<(Application & { client_secret: string }) | null>(null);
  const [isDelegated, setDelegated] = useState(false);
  const queryClient = useQueryClient();
  function close() {
    setCreated(null);
    setDelegated(false);
    onClose();
  }
  if (created !== null) {
    return (
      <Credentials
        credentials={created}
        onClose={() => {
          close();
          onCreated(created);
        }}
      />
    );
  }
  return (
    <Dialog title="New Application" isOpen={isOpen} onClose={close}>
      <Form
        submitLabel="Create"
        onCancel={close}
        fieldOfCode={{ application_limit_reached: 'name' }}
        onSubmit={(values) =>
          resultOf(
            api.POST('/api/console/applications', {
              body: {
                name: values['name'] ?? '',
                type: typeOf(values),
                token_lifespan_sec: lifespanSecOf(values),
                ...(isDelegated && {
                  redirect_uris: redirectUrisOf(values),
                  public_client: values['client'] === 'public',
                }),
              },
            }),
          )
        }
        onDone={(application) => {
          const { client_secret } = application;
          if (client_secret === null) {
            close();
            onCreated(application);
          } else {
            setCreated({ ...application, client_secret });
          }
          void queryClient.invalidateQueries({ queryKey: ['applications'] });
        }}
      >
        {(errors) => (
          <>
            <TextField label="Name" name="name" autoComplete="off" error={errors['name']} autoFocus />
            <RadioCards
              label="Type"
              name="type"
              options={TYPES}
              defaultValue="automatic"
              onChange={(type) => {
                setDelegated(type === 'authorization');
              }}
            />
            {isDelegated && (
              <>
                <SelectField
                  label="Where it runs"
                  name="client"
                  options={CLIENTS}
                  defaultValue="confidential"
                />
                <RedirectUrisField redirectUris={[]} error={errors['redirect_uris']} />
              </>
            )}
            <LifespanField
              key={String(isDelegated)}
              label="Token lifespan"
              lifespanSec={isDelegated ? HOUR_SEC : DEFAULT_LIFESPAN_SEC}
              description={
                isDelegated
                  ? 'How long an access token is valid, 24 hours at most. Your application renews it.'
                  : 'How long each token of this application is valid.'
              }
              error={errors['token_lifespan_sec']}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
