import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Empty, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { NewWebhook } from './new-webhook.tsx';
import { webhooksQuery } from './queries.ts';
import { WebhookStatus } from './webhook-status.tsx';

/** `/user/webhooks`: the servers that get usage alerts and credit events as signed requests. */
export function WebhooksPage() {
  const { data, isPending, error, refetch } = useQuery(webhooksQuery);
  const [isCreating, setCreating] = useState(false);
  const create = (
    <Button
      variant="primary"
      onPress={() => {
        setCreating(true);
      }}
    >
      + New Webhook
    </Button>
  );
  return (
    <>
      <PageHeader title="Webhooks">{create}</PageHeader>
      {isPending && <Skeleton />}
      {data === undefined && !isPending && (
        <ErrorMessage error={error} what="your webhooks" onRetry={() => void refetch()} />
      )}
      {data?.length === 0 && (
        <Empty title="No webhooks yet">
          <p>
            A webhook sends a signed request to your server when usage passes one of your{' '}
            <Link to="/alerts">alert thresholds</Link>, and when credits are granted, expire soon or run low.
          </p>
          {create}
        </Empty>
      )}
      {data !== undefined && data.length > 0 && (
        <Table
          label="Webhooks"
          rows={data}
          keyOf={({ webhook_id }) => webhook_id}
          columns={[
            {
              label: 'URL',
              onCard: 'title',
              cell: ({ webhook_id, url }) => (
                <Link to="/webhooks/$webhookId" params={{ webhookId: webhook_id }}>
                  {url}
                </Link>
              ),
            },
            { label: 'Description', cell: ({ description }) => description },
            { label: 'Status', onCard: 'status', cell: (webhook) => <WebhookStatus webhook={webhook} /> },
            { label: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
          ]}
        />
      )}
      <NewWebhook
        isOpen={isCreating}
        onClose={() => {
          setCreating(false);
        }}
      />
    </>
  );
}
