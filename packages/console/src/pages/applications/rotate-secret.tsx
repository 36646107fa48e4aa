import type { Application } from '../../api/client.ts';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { OverlapField, overlapSecOf } from '../../ui/secret/overlap.tsx';
import type { ApplicationWithSecrets } from './queries.ts';

export type Rotated = Pick<Application, 'name' | 'type' | 'client_id'> & { client_secret: string };

type RotateSecretProps = {
  application: ApplicationWithSecrets;
  isOpen: boolean;
  onClose: () => void;
  onRotated: (rotated: Rotated) => void;
};

/** A new client secret, beside which the current one works for a while. */
export function RotateSecret({ application, isOpen, onClose, onRotated }: RotateSecretProps) {
  const { name, secrets } = application;
  return (
    <Dialog
      title={
        <>
          Rotate the client secret of <bdi>{name}</bdi>
        </>
      }
      isOpen={isOpen}
      onClose={onClose}
    >
      {secrets.length > 1 ? (
        <>
          <p>The previous client secret still works. Wait for its end, or end it, before you rotate again.</p>
          <Button onPress={onClose}>Close</Button>
        </>
      ) : (
        <RotateForm application={application} onClose={onClose} onRotated={onRotated} />
      )}
    </Dialog>
  );
}

function RotateForm({ application, onClose, onRotated }: Omit<RotateSecretProps, 'isOpen'>) {
  const { application_id, status } = application;
  const isActive = status === 'active';
  return (
    <>
      <p>
        {isActive
          ? 'You get a new client secret. Access tokens keep working.'
          : 'You get a new client secret, and the application becomes active again. Its old tokens stay revoked.'}
      </p>
      <Form
        submitLabel="Rotate"
        onCancel={onClose}
        onSubmit={(values) =>
          resultOf(
            api.POST('/api/console/applications/{application_id}/rotate-secret', {
              params: { path: { application_id } },
              body: { overlap_sec: isActive ? overlapSecOf(values) : 0 },
            }),
          )
        }
        onDone={onRotated}
      >
        {() => isActive && <OverlapField />}
      </Form>
    </>
  );
}
