import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { Application } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import styles from '../../ui/page/page.module.css';
import { LifespanField, lifespanSecOf } from './lifespan-field.tsx';
import { RedirectUrisField, redirectUrisOf } from './redirect-uris-field.tsx';

/** Name and token lifespan, saved when you say so. */
export function ApplicationSettings({ application }: { application: Application }) {
  const queryClient = useQueryClient();
  const [isSaved, setSaved] = useState(false);
  const { application_id, name, type, token_lifespan_sec, redirect_uris } = application;
  const isDelegated = type === 'authorization';
  return (
    <section className={styles['card']} aria-labelledby="settings">
      <h2 id="settings">Settings</h2>
      <Form
        submitLabel="Save"
        onSubmit={(values) => {
          setSaved(false);
          return resultOf(
            api.PATCH('/api/console/applications/{application_id}', {
              params: { path: { application_id } },
              body: {
                name: values['name'] ?? '',
                token_lifespan_sec: lifespanSecOf(values),
                ...(isDelegated && { redirect_uris: redirectUrisOf(values) }),
              },
            }),
          );
        }}
        onDone={() => {
          setSaved(true);
          void queryClient.invalidateQueries({ queryKey: ['applications'] });
        }}
      >
        {(errors) => (
          <>
            <TextField
              label="Name"
              name="name"
              autoComplete="off"
              defaultValue={name}
              error={errors['name']}
            />
            {isDelegated && (
              <RedirectUrisField redirectUris={redirect_uris} error={errors['redirect_uris']} />
            )}
            <LifespanField
              label="Token lifespan"
              lifespanSec={token_lifespan_sec}
              description="Applies to new tokens. Existing ones keep their expiration time."
              error={errors['token_lifespan_sec']}
            />
          </>
        )}
      </Form>
      <p role="status">{isSaved && 'Saved.'}</p>
    </section>
  );
}
