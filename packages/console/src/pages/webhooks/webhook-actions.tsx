import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import type { Webhook } from './queries.ts';

/** Disables or enables a webhook, at once: both can be undone. */
export function ToggleWebhook({ webhook }: { webhook: Webhook }) {
  const queryClient = useQueryClient();
  const { webhook_id, enabled } = webhook;
  const toggle = useMutation({
    mutationFn: () =>
      resultOf(
        api.PATCH('/api/console/webhooks/{webhook_id}', {
          params: { path: { webhook_id } },
          body: { enabled: !enabled },
        }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['webhooks'] }),
  });
  return (
    <>
      <Button
        isPending={toggle.isPending}
        onPress={() => {
          toggle.mutate();
        }}
      >
        {enabled ? 'Disable' : 'Enable'}
      </Button>
      {toggle.isError && <ErrorMessage error={toggle.error} />}
    </>
  );
}

/** Ends a webhook for good, with its log. */
export function DeleteWebhook({ webhook, onDone }: { webhook: Webhook; onDone: () => void }) {
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { webhook_id, url } = webhook;
  const { host } = new URL(url);
  return (
    <>
      <Button
        variant="danger"
        onPress={() => {
          setOpen(true);
        }}
      >
        Delete
      </Button>
      <ConfirmByName
        title={`Delete the webhook to ${host}?`}
        name={host}
        of="host"
        action="Delete"
        isOpen={isOpen}
        onClose={() => {
          setOpen(false);
        }}
        onConfirm={() =>
          resultOf(api.DELETE('/api/console/webhooks/{webhook_id}', { params: { path: { webhook_id } } }))
        }
        onDone={() => {
          onDone();
          void queryClient.invalidateQueries({ queryKey: ['webhooks'] });
        }}
      >
        <p>
          Your server gets no more events from it. Its pending deliveries, its signing secret and its log of
          deliveries are deleted for good.
        </p>
      </ConfirmByName>
    </>
  );
}
