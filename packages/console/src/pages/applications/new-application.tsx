import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { Application } from '../../api/client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { DialogState } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { RadioCards } from '../../ui/form/radio-cards.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Credentials } from './credentials.tsx';
import { DEFAULT_LIFESPAN_SEC, LifespanField, lifespanSecOf } from './lifespan-field.tsx';

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
] as const;

export type CreatedApplication = Application & { client_secret: string };

type NewApplicationProps = DialogState & {
  /** Called when the dialog of the credentials is closed. */
  onCreated: (application: CreatedApplication) => void;
};

/** The dialog "New Application", then its credentials, shown once. */
export function NewApplication({ isOpen, onClose, onCreated }: NewApplicationProps) {
  const [created, setCreated] = useState<CreatedApplication | null>(null);
  const queryClient = useQueryClient();
  function close() {
    setCreated(null);
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
                type: values['type'] === 'manual' ? 'manual' : 'automatic',
                token_lifespan_sec: lifespanSecOf(values),
              },
            }),
          )
        }
        onDone={(application) => {
          setCreated(application);
          void queryClient.invalidateQueries({ queryKey: ['applications'] });
        }}
      >
        {(errors) => (
          <>
            <TextField label="Name" name="name" autoComplete="off" error={errors['name']} autoFocus />
            <RadioCards label="Type" name="type" options={TYPES} defaultValue="automatic" />
            <LifespanField
              label="Token lifespan"
              lifespanSec={DEFAULT_LIFESPAN_SEC}
              description="How long each token of this application is valid."
              error={errors['token_lifespan_sec']}
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}
