import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { Application } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';

/**
 * Row action of an application: **Revoke** ends its credentials and tokens; a revoked one can be deleted. Both
 * say what stops working, and ask for the name.
 */
export function EndApplication({
  application,
  onDeleted,
}: {
  application: Application;
  onDeleted?: () => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const queryClient = useQueryClient();
  const { application_id, name, status } = application;
  const isRevoked = status === 'revoked';
  const action = isRevoked ? 'Delete' : 'Revoke';
  const [mismatch, setMismatch] = useState(false);
  const close = () => {
    setOpen(false);
    setMismatch(false);
  };
  async function end(typed: string): Promise<boolean> {
    if (typed !== name) return false;
    const params = { params: { path: { application_id } } };
    if (isRevoked) await resultOf(api.DELETE('/api/console/applications/{application_id}', params));
    else await resultOf(api.POST('/api/console/applications/{application_id}/revoke', params));
    return true;
  }
  return (
    <>
      <Button
        variant="danger"
        aria-label={`${action} ${name}`}
        onPress={() => {
          setOpen(true);
        }}
      >
        {action}
      </Button>
      <Dialog title={`${action} ${name}?`} isOpen={isOpen} onClose={close}>
        <p>
          {isRevoked
            ? 'The application disappears from your list for good. Its past usage stays.'
            : 'All tokens of this application stop working within a second, and its client secret no longer gets new ones.'}
        </p>
        <Form
          submitLabel={action}
          onCancel={close}
          onSubmit={(values) => end(values['confirmation'] ?? '')}
          onDone={(isDone) => {
            setMismatch(!isDone);
            if (!isDone) return;
            close();
            void queryClient.invalidateQueries({ queryKey: ['applications'] });
            if (isRevoked) onDeleted?.();
          }}
        >
          {() => (
            <TextField
              label={`Type "${name}" to confirm`}
              name="confirmation"
              autoComplete="off"
              error={mismatch ? 'This is not the name of the application.' : undefined}
              autoFocus
            />
          )}
        </Form>
      </Dialog>
    </>
  );
}
