import { queryOptions, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { formatNumber, formatTimeLeft } from '../../ui/format.ts';
import page from '../../ui/page/page.module.css';
import { CheckEmail } from './check-email.tsx';
import { EntryPage } from './entry-page.tsx';
import { SignInLink } from './sign-in-link.tsx';

const signUpQuery = queryOptions({
  queryKey: ['sign-up'],
  queryFn: ({ signal }) => resultOf(api.GET('/api/console/sign-up', { signal })),
});

const DAY_SEC = 86_400;

type SignUp = { email: string; name: string };

/** `/user/sign-up`: the same response for a known and an unknown address. */
export function SignUpPage() {
  const [sent, setSent] = useState<SignUp | null>(null);
  const [typed, setTyped] = useState<SignUp>({ email: '', name: '' });
  if (sent !== null) {
    const { email } = sent;
    return (
      <CheckEmail
        onSendAgain={() => resultOf(api.POST('/api/console/sign-up/resend', { body: { email } }))}
        onCorrect={() => {
          setTyped(sent);
          setSent(null);
        }}
      >
        We sent a message to <strong>{email}</strong>. Open its link within 24 hours to choose a password and
        finish signing up.
      </CheckEmail>
    );
  }
  return (
    <EntryPage title="Create your account">
      <Offer />
      <Form
        submitLabel="Sign up"
        onSubmit={async (values) => {
          const { email: address = '', name = '' } = values;
          await resultOf(api.POST('/api/console/sign-up', { body: { email: address, name } }));
          return { email: address, name };
        }}
        onDone={setSent}
      >
        {(errors) => (
          <>
            <TextField
              label="Name"
              name="name"
              autoComplete="name"
              autoFocus
              defaultValue={typed.name}
              error={errors['name']}
            />
            <TextField
              label="Email"
              name="email"
              type="email"
              autoComplete="username"
              defaultValue={typed.email}
              error={errors['email']}
            />
          </>
        )}
      </Form>
      <p>
        Already have an account? <SignInLink>Sign in</SignInLink>
      </p>
    </EntryPage>
  );
}

/** What one gets, by the plan's own figures; the line keeps its place until they are there. */
function Offer() {
  const { data } = useQuery(signUpQuery);
  const offer = data?.offer;
  if (data?.enabled === false) return <p role="status">New accounts can’t sign up at the moment.</p>;
  if (offer === null) return null;
  if (offer === undefined) return <p className={page['muted']}>&nbsp;</p>;
  const points =
    offer.points_limit === null ? 'Unlimited points' : `${formatNumber(offer.points_limit)} points`;
  return (
    <p className={page['muted']}>
      <bdi>{offer.plan_name}</bdi>: {points}
      {offer.days === null ? ' a month' : `, ${formatTimeLeft(offer.days * DAY_SEC)}`}, no card needed.
    </p>
  );
}
