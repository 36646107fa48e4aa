import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { SelectField } from '../../ui/form/select-field.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { useHiddenAfterAbsence } from '../../ui/use-hidden-after-absence.ts';
import styles from '../../ui/page/page.module.css';

const DAY_SEC = 86_400;

const TYPES = [
  { value: 'automatic', label: 'Automatic: your program gets tokens itself' },
  { value: 'manual', label: 'Manual: you generate tokens here' },
] as const;

const LIFESPANS = [
  { value: String(DAY_SEC / 24), label: '1 hour' },
  { value: String(DAY_SEC), label: '24 hours' },
  { value: String(7 * DAY_SEC), label: '7 days' },
  { value: String(30 * DAY_SEC), label: '30 days' },
  { value: String(365 * DAY_SEC), label: '365 days' },
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
  if (created !== null) return <Credentials created={created} onClose={close} />;
  return (
    <Dialog title="New Application" isOpen={isOpen} onClose={close}>
      <Form
        submitLabel="Create"
        onCancel={close}
        onSubmit={(values) =>
          resultOf(
            api.POST('/api/console/applications', {
              body: {
                name: values['name'] ?? '',
                type: values['type'] === 'manual' ? 'manual' : 'automatic',
                token_lifespan_sec: Number(values['token_lifespan_sec']),
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
            <SelectField
              label="Expiration time"
              name="token_lifespan_sec"
              options={LIFESPANS}
              defaultValue={String(DAY_SEC)}
              description="How long each token of this application is valid."
            />
          </>
        )}
      </Form>
    </Dialog>
  );
}

function Credentials({ created, onClose }: { created: Created; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const [isWarned, setWarned] = useState(false);
  const isHidden = useHiddenAfterAbsence();
  const { name, client_id, client_secret } = created;
  const env = `TOLLGATE_CLIENT_ID=${client_id}\nTOLLGATE_CLIENT_SECRET=${client_secret}\n`;
  const curl = `curl -u '${client_id}:${client_secret}' -d grant_type=client_credentials -d scope=api ${location.origin}/oauth2/token`;
  const shown = isHidden ? '•'.repeat(12) : client_secret;
  function close() {
    if (isCopied || isWarned) onClose();
    else setWarned(true);
  }
  const markCopied = () => {
    setCopied(true);
  };
  return (
    <Dialog title={`Credentials of ${name}`} isOpen onClose={close} canDismiss={isCopied}>
      <p>
        Copy the client secret now. <strong>It is shown only once</strong>: if you lose it, you have to create
        a new one.
      </p>
      <div className={styles['secret']}>
        <span>
          Client ID <code>{client_id}</code>
        </span>
        <CopyButton what="client ID" text={client_id} />
      </div>
      <div className={styles['secret']}>
        <span>
          Client secret <code>{shown}</code>
        </span>
        <CopyButton what="client secret" text={client_secret} onCopied={markCopied} />
      </div>
      <div className={styles['secret']}>
        <pre>{curl.replace(client_secret, '<client secret>')}</pre>
        <CopyButton what="curl command" text={curl} onCopied={markCopied} />
      </div>
      {isWarned && !isCopied && (
        <p role="alert">You have not copied the client secret. Select Done again to close without it.</p>
      )}
      <div className={styles['actions']}>
        <Button variant="primary" onPress={close}>
          Done
        </Button>
        <Button
          onPress={() => {
            download(`${name}.env`, env);
            markCopied();
          }}
        >
          Download .env
        </Button>
      </div>
    </Dialog>
  );
}

function download(fileName: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
