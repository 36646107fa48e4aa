import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { api, hasStatus, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import styles from '../../ui/page/page.module.css';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { Deliveries } from './deliveries.tsx';
import { webhookQuery } from './queries.ts';
import type { Webhook } from './queries.ts';
import { DeleteWebhook, ToggleWebhook } from './webhook-actions.tsx';
import { WebhookFields } from './webhook-fields.tsx';
import { WebhookStatus } from './webhook-status.tsx';

const SigningSecret = lazyPart(async () => (await import('./signing-secret.tsx')).SigningSecret);

const Verification = lazyPart(async () => (await import('./verification.tsx')).Verification);

/** `/user/webhooks/<webhook_id>`: deliveries, signing secret and settings of a webhook. */
export function WebhookPage() {
  const { webhookId } = useParams({ from: '/signed-in/webhooks/$webhookId' });
  const { data: webhook, isPending, error, refetch } = useQuery(webhookQuery(webhookId));
  const navigate = useNavigate();
  if (hasStatus(error, 404)) return <NoSuchWebhook />;
  if (isPending) return <Skeleton rows={6} />;
  if (webhook === undefined)
    return <ErrorMessage error={error} what="this webhook" onRetry={() => void refetch()} />;
  return (
    <>
      <PageHeader title={new URL(webhook.url).host}>
        <div className={styles['actions']}>
          <ToggleWebhook webhook={webhook} />
          <DeleteWebhook webhook={webhook} onDone={() => void navigate({ to: '/webhooks' })} />
        </div>
      </PageHeader>
      <p className={styles['actions']}>
        <WebhookStatus webhook={webhook} />
        <code>{webhook.url}</code>
      </p>
      <Deliveries webhook={webhook} />
      <Suspense fallback={<Skeleton rows={6} />}>
        <SigningSecret webhook={webhook} />
        <Verification />
      </Suspense>
      <Settings key={webhookId} webhook={webhook} />
    </>
  );
}

function NoSuchWebhook() {
  return (
    <>
      <PageHeader title="Webhook not found" />
      <Empty title="There is no such webhook">
        <p>
          It may have been deleted in another tab. <Link to="/webhooks">All webhooks</Link>
        </p>
      </Empty>
    </>
  );
}

function Settings({ webhook }: { webhook: Webhook }) {
  const queryClient = useQueryClient();
  const [isSaved, setSaved] = useState(false);
  const { webhook_id } = webhook;
  return (
    <section className={styles['card']} aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <Form
        submitLabel="Save"
        onSubmit={(values) => {
          setSaved(false);
          return resultOf(
            api.PATCH('/api/console/webhooks/{webhook_id}', {
              params: { path: { webhook_id } },
              body: { url: values['url'] ?? '', description: values['description'] ?? '' },
            }),
          );
        }}
        onDone={() => {
          setSaved(true);
          void queryClient.invalidateQueries({ queryKey: ['webhooks'] });
        }}
      >
        {(errors) => <WebhookFields errors={errors} webhook={webhook} />}
      </Form>
      <p role="status">{isSaved && 'Saved.'}</p>
    </section>
  );
}
