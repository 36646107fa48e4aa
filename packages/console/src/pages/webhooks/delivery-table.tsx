import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, ErrorMessage } from '../../ui/page/states.tsx';
import type { Delivery, Webhook } from './queries.ts';

const TONES = { pending: 'neutral', delivered: 'good', failed: 'danger' } as const;
const LABELS = { pending: 'Pending', delivered: 'Delivered', failed: 'Failed' } as const;

const ERRORS: Readonly<Record<NonNullable<Delivery['error']>, string>> = {
  no_public_address: 'The host has no public address',
  connection_failed: 'Connection refused or lost',
  tls_failed: 'TLS failed: check the certificate',
  timeout: 'No response in time',
  invalid_response: 'The response isn’t HTTP',
  unexpected_status: 'Not a 2xx status',
  gone: 'Gone: the webhook was disabled',
  secret_unavailable: 'The secret can’t be decrypted: rotate it',
  webhook_disabled: 'The webhook was disabled',
};

type DeliveryTableProps = { deliveries: readonly Delivery[]; webhook: Webhook };

/** Deliveries; the attempts of one unfold below it. */
export function DeliveryTable({ deliveries, webhook }: DeliveryTableProps) {
  const [openId, setOpenId] = useState<number | null>(null);
  return (
    <Table
      label="Deliveries"
      rows={deliveries}
      keyOf={({ delivery_id }) => delivery_id}
      columns={[
        { label: 'Event', onCard: 'title', cell: ({ event_type }) => <code>{event_type}</code> },
        { label: 'Status', onCard: 'status', cell: (delivery) => <Status delivery={delivery} /> },
        { label: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
        { label: 'Attempts', onCard: 'none', cell: ({ attempts }) => formatNumber(attempts) },
        { label: 'Response', cell: responseInWords },
        { label: 'Duration', onCard: 'none', cell: durationInWords },
      ]}
      actions={(delivery) => {
        const { delivery_id, attempt_log, status } = delivery;
        const isOpen = delivery_id === openId;
        return (
          <>
            {attempt_log.length > 0 && (
              <Button
                isReading
                variant="quiet"
                aria-expanded={isOpen}
                aria-label={`Attempts of ${nameOf(delivery)}`}
                onPress={() => {
                  setOpenId(isOpen ? null : delivery_id);
                }}
              >
                Attempts
              </Button>
            )}
            {webhook.enabled && status !== 'delivered' && <Retry delivery={delivery} webhook={webhook} />}
          </>
        );
      }}
      detail={(delivery) => delivery.delivery_id === openId && <Attempts delivery={delivery} />}
    />
  );
}

const nameOf = ({ event_type, delivery_id }: Delivery) => `${event_type}, delivery ${String(delivery_id)}`;

function Status({ delivery: { status, attempts, next_attempt_at } }: { delivery: Delivery }) {
  return (
    <>
      <Badge tone={TONES[status]}>{LABELS[status]}</Badge>
      {next_attempt_at !== null && attempts > 0 && (
        <span>
          {' '}
          next attempt <Moment at={next_attempt_at} />
        </span>
      )}
    </>
  );
}

function Attempts({ delivery }: { delivery: Delivery }) {
  return (
    <Table
      label={`Attempts of ${nameOf(delivery)}`}
      rows={delivery.attempt_log}
      keyOf={({ attempt }) => attempt}
      columns={[
        { label: 'Attempt', cell: ({ attempt }) => formatNumber(attempt) },
        { label: 'Ended', cell: ({ attempted_at }) => <Moment at={attempted_at} /> },
        { label: 'Response', cell: responseInWords },
        { label: 'Duration', cell: durationInWords },
        {
          label: 'Next attempt',
          cell: ({ next_attempt_at }) =>
            next_attempt_at === null ? 'None' : <Moment at={next_attempt_at} />,
        },
      ]}
    />
  );
}

type RetryProps = { delivery: Delivery; webhook: Webhook };

function Retry({ delivery, webhook }: RetryProps) {
  const queryClient = useQueryClient();
  const path = { webhook_id: webhook.webhook_id, delivery_id: delivery.delivery_id };
  const retry = useMutation({
    mutationFn: () =>
      resultOf(
        api.POST('/api/console/webhooks/{webhook_id}/deliveries/{delivery_id}/retry', { params: { path } }),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['webhooks', path.webhook_id] }),
  });
  return (
    <>
      <Button
        aria-label={`Retry now: ${nameOf(delivery)}`}
        isPending={retry.isPending}
        onPress={() => {
          retry.mutate();
        }}
      >
        Retry now
      </Button>
      {retry.isError && <ErrorMessage error={retry.error} />}
    </>
  );
}

type Outcome = Pick<Delivery, 'response_status' | 'error' | 'duration_ms'>;

function responseInWords({ response_status, error }: Outcome): string {
  const status = response_status === null ? '' : String(response_status);
  if (error === null) return status;
  return status === '' ? ERRORS[error] : `${status}: ${ERRORS[error]}`;
}

function durationInWords({ duration_ms }: Outcome): string {
  return duration_ms === null ? '' : `${formatNumber(duration_ms)} ms`;
}
