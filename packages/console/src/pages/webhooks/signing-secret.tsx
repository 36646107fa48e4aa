import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form/form.tsx';
import styles from '../../ui/page/page.module.css';
import { Overlap, OverlapField, overlapSecOf } from '../../ui/secret/overlap.tsx';
import type { Webhook } from './queries.ts';
import { WebhookSecret } from './webhook-secret.tsx';

/** The secret that signs events, and its rotation. */
export function SigningSecret({ webhook }: { webhook: Webhook }) {
  const queryClient = useQueryClient();
  const [isRotating, setRotating] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const { webhook_id, previous_secret_expires_at } = webhook;
  const params = { path: { webhook_id } };
  const refresh = useCallback(() => {
    void queryClient.invalidateQueries({ queryKey: ['webhooks'] });
  }, [queryClient]);
  const close = () => {
    setRotating(false);
  };
  return (
    <section className={styles['card']} aria-labelledby="signing-secret">
      <div className={styles['header']}>
        <h2 id="signing-secret">Signing secret</h2>
        <Button
          onPress={() => {
            setRotating(true);
          }}
        >
          Rotate Secret
        </Button>
      </div>
      <p>Every event is signed with it. It is encrypted at rest and can’t be shown again.</p>
      {previous_secret_expires_at !== null && (
        <Overlap
          what="The previous signing secret"
          until={previous_secret_expires_at}
          onEndEarly={() =>
            resultOf(api.DELETE('/api/console/webhooks/{webhook_id}/previous-secret', { params }))
          }
          onOver={refresh}
        />
      )}
      <Dialog title="Rotate the signing secret" isOpen={isRotating} onClose={close}>
        <p>You get a new signing secret. Until the current one ends, events are signed with both.</p>
        <Form
          submitLabel="Rotate"
          onCancel={close}
          onSubmit={(values) =>
            resultOf(
              api.POST('/api/console/webhooks/{webhook_id}/rotate-secret', {
                params,
                body: { overlap_sec: overlapSecOf(values) },
              }),
            )
          }
          onDone={(rotated) => {
            close();
            setSecret(rotated.secret);
            refresh();
          }}
        >
          {() => <OverlapField />}
        </Form>
      </Dialog>
      {secret !== null && (
        <WebhookSecret
          secret={secret}
          onClose={() => {
            setSecret(null);
          }}
        />
      )}
    </section>
  );
}
