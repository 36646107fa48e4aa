import { SecretOnce } from '../../ui/secret/secret-once.tsx';

type WebhookSecretProps = { secret: string; onClose: () => void };

/** A webhook's new signing secret. */
export function WebhookSecret({ secret, onClose }: WebhookSecretProps) {
  return (
    <SecretOnce
      title="Signing secret"
      what="signing secret"
      secret={secret}
      env={{ fileName: 'webhook.env', text: `WEBHOOK_SECRET=${secret}\n` }}
      onClose={onClose}
    >
      <p>Your server needs it to verify that an event comes from Tollgate.</p>
    </SecretOnce>
  );
}
