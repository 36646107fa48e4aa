import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Change } from './change.tsx';
import { Section } from './section.tsx';

/** A new address counts once the link sent to it is opened. */
export function EmailAddress() {
  const { data: session } = useQuery(sessionQuery);
  const [pending, setPending] = useState<string | null>(null);
  if (session === undefined || session === null) return null;
  return (
    <Section title="Email address">
      <p>
        You sign in with <strong>{session.email}</strong>.
      </p>
      <Change label="Change email address">
        {(close) => (
          <Form
            onCancel={close}
            submitLabel="Send confirmation link"
            onSubmit={async ({ email = '', current_password = '' }) => {
              await resultOf(api.POST('/api/console/account/email', { body: { email, current_password } }));
              return email;
            }}
            onDone={(email) => {
              setPending(email);
              close();
            }}
          >
            {(errors) => (
              <>
                <TextField
                  label="New email address"
                  name="email"
                  type="email"
                  autoComplete="email"
                  error={errors['email']}
                  autoFocus
                />
                <TextField
                  label="Current password"
                  name="current_password"
                  type="password"
                  autoComplete="current-password"
                  error={errors['current_password']}
                />
              </>
            )}
          </Form>
        )}
      </Change>
      <p role="status">
        {pending !== null && (
          <>
            We sent a link to <strong>{pending}</strong>. Open it within 24 hours to change your address;
            until then nothing changes.
          </>
        )}
      </p>
    </Section>
  );
}
