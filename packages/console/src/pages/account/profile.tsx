import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Change } from './change.tsx';
import { Section } from './section.tsx';

/** The name that team members and support see. */
export function Profile() {
  const { data: session } = useQuery(sessionQuery);
  const queryClient = useQueryClient();
  const [isSaved, setSaved] = useState(false);
  if (session === undefined || session === null) return null;
  return (
    <Section title="Name">
      <p>
        <bdi>{session.name}</bdi>
      </p>
      <Change label="Change name">
        {(close) => (
          <Form
            onCancel={close}
            submitLabel="Save name"
            onSubmit={({ name = '' }) => resultOf(api.PATCH('/api/console/account', { body: { name } }))}
            onDone={(changed) => {
              setSaved(true);
              close();
              queryClient.setQueryData(sessionQuery.queryKey, changed);
            }}
          >
            {(errors) => (
              <TextField
                label="Name"
                name="name"
                autoComplete="name"
                defaultValue={session.name}
                description="Members of your team see it."
                error={errors['name']}
                autoFocus
              />
            )}
          </Form>
        )}
      </Change>
      <p role="status">{isSaved && 'Name saved.'}</p>
    </Section>
  );
}
