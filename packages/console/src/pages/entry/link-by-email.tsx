import { useState } from 'react';
import type { ReactNode } from 'react';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { CheckEmail } from './check-email.tsx';
import { EntryPage } from './entry-page.tsx';

/** Asks for an address, sends a link there, and says so alike whether or not it has an account. */
export function LinkByEmail({
  title,
  intro,
  submitLabel,
  send,
  sent,
  children,
}: {
  title: string;
  intro?: ReactNode;
  submitLabel: string;
  send: (email: string) => Promise<unknown>;
  sent: (email: ReactNode) => ReactNode;
  /** Other ways, below the form. */
  children: ReactNode;
}) {
  const [email, setEmail] = useState<string | null>(null);
  const [typed, setTyped] = useState('');
  if (email !== null) {
    return (
      <CheckEmail
        onSendAgain={() => send(email)}
        onCorrect={() => {
          setTyped(email);
          setEmail(null);
        }}
      >
        {sent(<strong>{email}</strong>)}
      </CheckEmail>
    );
  }
  return (
    <EntryPage title={title}>
      {intro}
      <Form
        submitLabel={submitLabel}
        onSubmit={async ({ email: address = '' }) => {
          await send(address);
          return address;
        }}
        onDone={setEmail}
      >
        {(errors) => (
          <TextField
            label="Email"
            name="email"
            type="email"
            autoComplete="username"
            defaultValue={typed}
            error={errors['email']}
            autoFocus
          />
        )}
      </Form>
      <p>{children}</p>
    </EntryPage>
  );
}
