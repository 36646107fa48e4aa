import { counted } from '../../ui/format.ts';
import { ExactMoment, Moment } from '../../ui/moment.tsx';
import { Badge } from '../../ui/page/states.tsx';
import { ActOn } from './act-on.tsx';
import {
  deliveriesQuery,
  endSession,
  endSessions,
  mailsQuery,
  retryDelivery,
  sendMailAgain,
  sessionsQuery,
  webhooksQuery,
} from './account-queries.ts';
import type { AccountSummary } from './queries.ts';
import { Listed } from './section.tsx';

/** What was sent to the customer, and where they are signed in. `canAct`: support and admins. */
export function SentAndSessions({ account, canAct }: { account: AccountSummary; canAct: boolean }) {
  return (
    <>
      <Mails account={account} canAct={canAct} />
      <Webhooks account={account} canAct={canAct} />
      <Sessions account={account} canAct={canAct} />
    </>
  );
}

type Props = { account: AccountSummary; canAct: boolean };

const keyOf = ({ account_id }: AccountSummary) => ['account', account_id];

const STATES = {
  waiting: { tone: 'neutral', label: 'Waiting' },
  sent: { tone: 'good', label: 'Sent' },
  given_up: { tone: 'danger', label: 'Not delivered' },
  outdated: { tone: 'neutral', label: 'Not needed any more' },
} as const;

function Mails({ account, canAct }: Props) {
  const { account_id } = account;
  return (
    <Listed
      title="Mails"
      query={mailsQuery(account_id)}
      none="No mail was sent to this address in the last 30 days."
      keyOf={({ mail_id }) => mail_id}
      columns={[
        { label: 'About', onCard: 'title', cell: ({ kind }) => wordsOf(kind) },
        { label: 'Asked for', cell: ({ requested_at }) => <Moment at={requested_at} /> },
        {
          label: 'Ended',
          cell: ({ ended_at }) => (ended_at === null ? '–' : <ExactMoment at={ended_at} />),
        },
        {
          label: 'State',
          onCard: 'status',
          cell: ({ state }) => <Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>,
        },
      ]}
      actions={
        canAct
          ? ({ mail_id, kind, state }) =>
              state !== 'waiting' && (
                <ActOn
                  queryKey={keyOf(account)}
                  action="Send again"
                  row={`${wordsOf(kind)}, mail ${String(mail_id)}`}
                  title="Send this mail again?"
                  act={(reason) => sendMailAgain(account_id, mail_id, reason)}
                >
                  It goes to <bdi>{account.email}</bdi>, with the present figures and a new link.
                </ActOn>
              )
          : undefined
      }
    />
  );
}

const DELIVERY_TONES = { pending: 'neutral', delivered: 'good', failed: 'danger' } as const;

function Webhooks({ account, canAct }: Props) {
  const { account_id } = account;
  return (
    <>
      <Listed
        title="Webhooks"
        query={webhooksQuery(account_id)}
        none="No webhooks."
        keyOf={({ webhook_id }) => webhook_id}
        columns={[
          { label: 'Server', onCard: 'title', cell: ({ url }) => <bdi>{url}</bdi> },
          { label: 'Description', cell: ({ description }) => <bdi>{description}</bdi> },
          {
            label: 'Failing since',
            cell: ({ failing_since }) => (failing_since === null ? '–' : <Moment at={failing_since} />),
          },
          {
            label: 'Status',
            onCard: 'status',
            cell: ({ enabled, disabled_reason }) => (
              <Badge tone={enabled ? 'good' : 'danger'}>
                {enabled ? 'Enabled' : `Disabled (${disabled_reason ?? 'owner'})`}
              </Badge>
            ),
          },
        ]}
      />
      <Listed
        title="Webhook deliveries"
        query={deliveriesQuery(account_id)}
        none="Nothing was sent to a webhook."
        keyOf={({ delivery_id }) => delivery_id}
        columns={[
          { label: 'Event', onCard: 'title', cell: ({ event_type }) => event_type },
          { label: 'Server', cell: ({ url }) => <bdi>{url}</bdi> },
          { label: 'Created', cell: ({ created_at }) => <Moment at={created_at} /> },
          {
            label: 'Last attempt',
            cell: ({ attempts, response_status, error }) =>
              attempts === 0
                ? '–'
                : `${counted(attempts, 'attempt')}, ${error === null ? String(response_status) : wordsOf(error)}`,
          },
          {
            label: 'Status',
            onCard: 'status',
            cell: ({ status }) => <Badge tone={DELIVERY_TONES[status]}>{status}</Badge>,
          },
        ]}
        actions={
          canAct
            ? ({ webhook_id, delivery_id, event_type }) => (
                <ActOn
                  queryKey={keyOf(account)}
                  action="Send again"
                  row={`${event_type}, delivery ${String(delivery_id)}`}
                  title="Send this event again?"
                  act={(reason) => retryDelivery({ account_id, webhook_id, delivery_id }, reason)}
                >
                  The customer’s server gets the same event at once, with the same <code>webhook-id</code>.
                </ActOn>
              )
            : undefined
        }
      />
    </>
  );
}

function Sessions({ account, canAct }: Props) {
  const { account_id } = account;
  return (
    <Listed
      title="Sessions"
      query={sessionsQuery(account_id)}
      none="The owner isn’t signed in anywhere."
      keyOf={({ session_id }) => session_id}
      columns={[
        { label: 'Browser', onCard: 'title', cell: ({ user_agent }) => <bdi>{user_agent}</bdi> },
        { label: 'IP address', cell: ({ address }) => address ?? '–' },
        { label: 'Last seen', cell: ({ last_seen_at }) => <Moment at={last_seen_at} /> },
        { label: 'Ends', cell: ({ expires_at }) => <Moment at={expires_at} /> },
      ]}
      actions={
        canAct
          ? ({ session_id }) => (
              <ActOn
                queryKey={keyOf(account)}
                action="End"
                row={`session ${String(session_id)}`}
                title="End this session?"
                act={(reason) => endSession(account_id, session_id, reason)}
              >
                Its browser is signed out at its next request. The temporary token ends, too.
              </ActOn>
            )
          : undefined
      }
    >
      {canAct && (
        <p>
          <ActOn
            queryKey={keyOf(account)}
            action="End all sessions"
            title="End all sessions?"
            act={(reason) => endSessions(account_id, reason)}
          >
            The owner is signed out everywhere, and the temporary token ends. Applications and tokens keep
            working.
          </ActOn>
        </p>
      )}
    </Listed>
  );
}

function wordsOf(name: string): string {
  return name.replaceAll('_', ' ');
}
