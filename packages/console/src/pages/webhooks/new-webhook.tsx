import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import { WebhookFields } from './webhook-fields.tsx';
import { WebhookSecret } from './webhook-secret.tsx';

type NewWebhookProps = { isOpen: boolean; onClose: () => void };

/** The dialog "New Webhook", and then its secret, shown once. */
export function NewWebhook({ isOpen, onClose }: NewWebhookProps) {
  const [secret, setSecret] = useState<string | null>(null);
  const queryClient = useQueryClient();
  function close() {
    setSecret(null);
    onClose();
  }
  if (secret !== null) return <WebhookSecret secret={secret} onClose={close} />;
  return (
    <Dialog title="New Webhook" isOpen={isOpen} onClose={close}>
      <Form
        submitLabel="Create"
        onCancel={close}
        fieldOfCode={{ webhook_limit_reached: 'url' }}
        onSubmit={(values) =>
          resultOf(
            api.POST('/api/console/webhooks', {
              body: { url: values['url'] ?? '', description: values['description'] ?? '' },
            }),
          )
        }
        onDone={(webhook) => {
          setSecret(webhook.secret);
          void queryClient.invalidateQueries({ queryKey: ['webhooks'] });
        }}
      >
        {(errors) => <WebhookFields errors={errors} />}
      </Form>
    </Dialog>
  );
}
