import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { sessionQuery } from '../../api/session.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { Section } from './section.tsx';

/** The name that team members and support see. */
export function Profile() {
  const { data: session } = useQuery(sessionQuery);
  const queryClient = useQueryClient();
  const [isSaved, setSaved] = useState(false);
  if (session === undefined || session === null) return null;
  return (
    <Section title="Profile">
      <Form
        submitLabel="Save name"
        onSubmit={({ name = '' }) => {
          setSaved(false);
          return resultOf(api.PATCH('/api/console/account', { body: { name } }));
        }}
        onDone={(changed) => {
          setSaved(true);
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
          />
        )}
      </Form>
      <p role="status">{isSaved && 'Name saved.'}</p>
    </Section>
  );
}
