import { TextField } from '../../ui/form/text-field.tsx';
import type { Webhook } from './queries.ts';

type WebhookFieldsProps = {
  errors: Readonly<Record<string, string | undefined>>;
  webhook?: Webhook;
};

/** The fields of a new webhook, or of one that is changed. */
export function WebhookFields({ errors, webhook }: WebhookFieldsProps) {
  return (
    <>
      <TextField
        label="URL"
        name="url"
        autoComplete="off"
        defaultValue={webhook?.url ?? ''}
        description="The HTTPS URL of your server. It receives alerts, and events about credits and payments."
        error={errors['url']}
        maxLength={2_000}
        autoFocus={webhook === undefined}
      />
      <TextField
        label="Description (optional)"
        name="description"
        autoComplete="off"
        defaultValue={webhook?.description ?? ''}
        error={errors['description']}
        isRequired={false}
      />
    </>
  );
}
