import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf, setCsrfToken } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { sessionsQuery } from './queries.ts';
import { Change } from './change.tsx';
import { Section } from './section.tsx';

/** A new password ends all other sessions. */
export function Password() {
  const { data: session } = useQuery(sessionQuery);
  const queryClient = useQueryClient();
  const [changes, setChanges] = useState(0);
  return (
    <Section title="Password">
      <Change label="Change password">
        {(close) => (
          <Form
            onCancel={close}
            submitLabel="Change password"
            onSubmit={({ current_password = '', new_password = '' }) =>
              resultOf(api.PUT('/api/console/account/password', { body: { current_password, new_password } }))
            }
            onDone={(changed) => {
              setCsrfToken(changed.csrf_token);
              queryClient.setQueryData(sessionQuery.queryKey, changed);
              setChanges(changes + 1);
              close();
              void queryClient.invalidateQueries({ queryKey: sessionsQuery.queryKey });
            }}
          >
            {(errors) => (
              <>
                {/* Password managers need to know whose password it is. */}
                <input type="hidden" name="username" autoComplete="username" value={session?.email ?? ''} />
                <TextField
                  label="Current password"
                  name="current_password"
                  type="password"
                  autoComplete="current-password"
                  error={errors['current_password']}
                  autoFocus
                />
                <TextField
                  label="New password"
                  name="new_password"
                  type="password"
                  autoComplete="new-password"
                  description="At least 8 characters. Common passwords, and those that contain your email address, are refused. Changing it signs out all your other sessions."
                  error={errors['new_password']}
                />
              </>
            )}
          </Form>
        )}
      </Change>
      <p role="status">{changes > 0 && 'Password changed. All your other sessions were signed out.'}</p>
    </Section>
  );
}
