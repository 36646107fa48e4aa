import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { formatNumber } from '../../ui/format.ts';
import { ActionsCell, Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, ErrorMessage } from '../../ui/page/states.tsx';
import type { Attempt, Delivery, Webhook } from './queries.ts';

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

const ATTEMPT_COLUMNS = ['Attempt', 'Ended', 'Response', 'Duration', 'Next attempt'];

type DeliveryRowProps = { delivery: Delivery; webhook: Webhook; columns: number };

/** One delivery; its attempts unfold below it. */
export function DeliveryRow({ delivery, webhook, columns }: DeliveryRowProps) {
  const [isOpen, setOpen] = useState(false);
  const { delivery_id, event_type, status, created_at, attempts, attempt_log, next_attempt_at } = delivery;
  const name = `${event_type}, delivery ${String(delivery_id)}`;
  return (
    <>
      <tr>
        <td>
          <code>{event_type}</code>
        </td>
        <td>
          <Badge tone={TONES[status]}>{LABELS[status]}</Badge>
          {next_attempt_at !== null && attempts > 0 && (
            <>
              {' '}
              next attempt <Moment at={next_attempt_at} />
            </>
          )}
        </td>
        <td>
          <Moment at={created_at} />
        </td>
        <td>{formatNumber(attempts)}</td>
        <td>{responseInWords(delivery)}</td>
        <td>{durationInWords(delivery)}</td>
        <ActionsCell>
          {attempt_log.length > 0 && (
            <Button
              variant="quiet"
              aria-expanded={isOpen}
              aria-label={`Attempts of ${name}`}
              onPress={() => {
                setOpen(!isOpen);
              }}
            >
              Attempts
            </Button>
          )}
          {webhook.enabled && status !== 'delivered' && (
            <Retry delivery={delivery} webhook={webhook} name={name} />
          )}
        </ActionsCell>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={columns}>
            <Table label={`Attempts of ${name}`} columns={ATTEMPT_COLUMNS}>
              {attempt_log.map((attempt) => (
                <AttemptRow key={attempt.attempt} attempt={attempt} />
              ))}
            </Table>
          </td>
        </tr>
      )}
    </>
  );
}

function AttemptRow({ attempt }: { attempt: Attempt }) {
  return (
    <tr>
      <td>{formatNumber(attempt.attempt)}</td>
      <td>
        <Moment at={attempt.attempted_at} />
      </td>
      <td>{responseInWords(attempt)}</td>
      <td>{durationInWords(attempt)}</td>
      <td>{attempt.next_attempt_at === null ? 'None' : <Moment at={attempt.next_attempt_at} />}</td>
    </tr>
  );
}

type RetryProps = { delivery: Delivery; webhook: Webhook; name: string };

function Retry({ delivery, webhook, name }: RetryProps) {
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
        aria-label={`Retry now: ${name}`}
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
