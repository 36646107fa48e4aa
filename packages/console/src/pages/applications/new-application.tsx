import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Credentials } from './credentials.tsx';
import { DEFAULT_LIFESPAN_SEC, LifespanField, lifespanSecOf } from './lifespan-field.tsx';

const TYPES = [
  { value: 'automatic', label: 'Automatic: your program gets tokens itself' },
  { value: 'manual', label: 'Manual: you generate tokens here' },
] as const;

type Created = { name: string; client_id: string; client_secret: string };

type NewApplicationProps = { isOpen: boolean; onClose: () => void };

/** The dialog "New Application", and then its credentials, shown once. */
export function NewApplication({ isOpen, onClose }: NewApplicationProps) {
  const [created, setCreated] = useState<Created | null>(null);
  const queryClient = useQueryClient();
  function close() {
    setCreated(null);
    onClose();
  }
  if (created !== null) return <Credentials credentials={created} onClose={close} />;
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
            <SelectField label="Type" name="type" options={TYPES} defaultValue="automatic" />
            <LifespanField
              label="Expiration time"
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
