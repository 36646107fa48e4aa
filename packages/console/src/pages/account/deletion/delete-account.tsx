import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { sessionQuery } from '../../../api/session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Form } from '../../../ui/form/form.tsx';
import { TextField } from '../../../ui/form/text-field.tsx';
import { counted, formatDay, formatMoment } from '../../../ui/format.ts';
import { ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import styles from '../../../ui/page/page.module.css';
import { Section } from '../section.tsx';
import { deletionQuery } from './queries.ts';
import type { AccountDeletion } from './queries.ts';

/** Ends the account's credentials at once, and erases it after the grace. */
export function DeleteAccount() {
  const [isOpen, setOpen] = useState(false);
  const { data, error, refetch } = useQuery(deletionQuery);
  return (
    <Section title="Delete account">
      <p>
        Your applications and tokens stop working at once.
        {data !== undefined &&
          ` Your personal data is erased after ${counted(data.grace_days, 'day')}; until then you can restore the account.`}{' '}
        Export your data first if you want to keep a copy.
      </p>
      <div className={styles['actions']}>
        <Button
          variant="danger"
          onPress={() => {
            setOpen(true);
            void refetch();
          }}
        >
          Delete account
        </Button>
      </div>
      <Dialog
        title="Delete your account?"
        isOpen={isOpen}
        onClose={() => {
          setOpen(false);
        }}
      >
        {data === undefined && error === null && <Skeleton />}
        {data === undefined && error !== null && (
          <ErrorMessage error={error} what="the details of the deletion" onRetry={() => void refetch()} />
        )}
        {data !== undefined && (
          <Confirmation
            deletion={data}
            onCancel={() => {
              setOpen(false);
            }}
          />
        )}
      </Dialog>
    </Section>
  );
}

function Confirmation({ deletion, onCancel }: { deletion: AccountDeletion; onCancel: () => void }) {
  const queryClient = useQueryClient();
  const { data: session } = useQuery(sessionQuery);
  const { team } = deletion.consequences;
  if (team?.role === 'manager' && team.members > 1) {
    return (
      <>
        <p>
          You manage the team <bdi>{team.name}</bdi> with {counted(team.members - 1, 'other member')}. Hand
          the team over or dissolve it first.
        </p>
        <div className={styles['actions']}>
          <Button onPress={onCancel}>Close</Button>
        </div>
      </>
    );
  }
  return (
    <>
      <ul>
        {endsOf(deletion).map((end) => (
          <li key={end}>{end}</li>
        ))}
      </ul>
      <Form
        submitLabel="Delete account"
        onCancel={onCancel}
        onSubmit={(values) =>
          resultOf(
            api.POST('/api/console/account/deletion', {
              body: { email: values['email'] ?? '', current_password: values['current_password'] ?? '' },
            }),
          )
        }
        onDone={(done) => {
          queryClient.setQueryData(deletionQuery.queryKey, done);
          void queryClient.invalidateQueries({ queryKey: sessionQuery.queryKey });
        }}
      >
        {(errors) => (
          <>
            <TextField
              label={`Type ${session?.email ?? 'your email address'} to confirm`}
              name="email"
              type="email"
              autoComplete="off"
              error={errors['email']}
              autoFocus
            />
            <TextField
              label="Password"
              name="current_password"
              type="password"
              autoComplete="current-password"
              error={errors['current_password']}
            />
          </>
        )}
      </Form>
    </>
  );
}

/** What stops working, and when. */
function endsOf({ grace_days, consequences }: AccountDeletion): string[] {
  const { applications, tokens, webhooks, team, last_used_at, subscription_ends_at, credits } = consequences;
  const lost = credits.reduce((sum, { points_remaining }) => sum + points_remaining, 0);
  const grace = counted(grace_days, 'day');
  const used = last_used_at === null ? '' : `, last used ${formatMoment(last_used_at)}`;
  return [
    `${counted(applications, 'application')} and ${counted(tokens, 'token')}${used}: revoked now, and not restored if you cancel.`,
    ...(webhooks === 0 ? [] : [`${counted(webhooks, 'webhook')}: disabled now.`]),
    ...(team === null ? [] : [`You leave the team ${team.name} now.`]),
    ...(subscription_ends_at === null
      ? []
      : [`Your subscription ends on ${formatDay(subscription_ends_at)}.`]),
    ...(lost === 0 ? [] : [`Your remaining credits (${counted(lost, 'point')}) expire in ${grace}.`]),
    `In ${grace} your name, address, sessions and activity are erased. Usage and billing records stay without them.`,
  ];
}
