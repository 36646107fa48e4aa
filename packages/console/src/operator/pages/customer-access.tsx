import { explainCode } from '../../api/code-explanations.ts';
import { Moment } from '../../ui/moment.tsx';
import { Badge } from '../../ui/page/states.tsx';
import { AccountLink } from '../location.tsx';
import { revokeApplication, revokeToken, teamQuery } from './account-queries.ts';
import { ActOn } from './act-on.tsx';
import { applicationsQuery, refusalsQuery, tokensQuery } from './queries.ts';
import type { AccountSummary } from './queries.ts';
import { Listed } from './section.tsx';

/** What calls with the account's credentials: applications, tokens, the team; and what was refused. */
export function AccessLists({ account, canRevoke }: { account: AccountSummary; canRevoke: boolean }) {
  const { account_id, team } = account;
  const queryKey = ['account', account_id];
  return (
    <>
      <Listed
        title="Applications"
        query={applicationsQuery(account_id)}
        none="No applications."
        keyOf={({ application_id }) => application_id}
        columns={[
          { label: 'Name', onCard: 'title', cell: ({ name }) => <bdi>{name}</bdi> },
          { label: 'Client ID', cell: ({ client_id }) => <code>{client_id}</code> },
          { label: 'Used', cell: ({ last_used_at }) => <Used at={last_used_at} /> },
          { label: 'Status', onCard: 'status', cell: ({ status }) => <Status status={status} /> },
        ]}
        actions={
          canRevoke
            ? ({ application_id, name, status }) =>
                status.toLowerCase() === 'active' && (
                  <ActOn
                    queryKey={queryKey}
                    action="Revoke"
                    row={`application ${name}`}
                    title="Revoke this application?"
                    typed={{ name, of: 'application' }}
                    act={(reason) => revokeApplication(application_id, reason)}
                  >
                    All its tokens are refused within a second, and it gets no new ones. The customer can’t
                    undo it.
                  </ActOn>
                )
            : undefined
        }
      />
      <Listed
        title="Tokens"
        query={tokensQuery(account_id)}
        none="No manual tokens."
        keyOf={({ token_id }) => token_id}
        columns={[
          { label: 'Name', onCard: 'title', cell: ({ name }) => <bdi>{name}</bdi> },
          { label: 'Application', cell: ({ application_name }) => <bdi>{application_name}</bdi> },
          { label: 'Used', cell: ({ last_used_at }) => <Used at={last_used_at} /> },
          { label: 'Status', onCard: 'status', cell: ({ status }) => <Status status={status} /> },
        ]}
        actions={
          canRevoke
            ? ({ application_id, token_id, name, status }) =>
                status.toLowerCase() === 'active' && (
                  <ActOn
                    queryKey={queryKey}
                    action="Revoke"
                    row={`token ${name}`}
                    title="Revoke this token?"
                    typed={{ name, of: 'token' }}
                    act={(reason) => revokeToken(application_id, token_id, reason)}
                  >
                    Calls with it are refused within a second. The customer can make another one.
                  </ActOn>
                )
            : undefined
        }
      />
      {team !== null && <Team accountId={account_id} teamId={team.team_id} />}
      <Listed
        title="Refused and failed calls"
        query={refusalsQuery(account_id)}
        none="No call was refused or failed."
        keyOf={({ refused_call_id }) => refused_call_id}
        columns={[
          { label: 'When', onCard: 'title', cell: ({ at }) => <Moment at={at} /> },
          { label: 'Why', cell: (call) => <Why {...call} /> },
          { label: 'Request ID', cell: ({ request_id }) => <code>{request_id}</code> },
        ]}
      />
    </>
  );
}

function Team({ accountId, teamId }: { accountId: number; teamId: number }) {
  return (
    <Listed
      title="Team members"
      query={teamQuery(accountId, teamId)}
      none="No members."
      keyOf={({ account_id }) => account_id}
      columns={[
        {
          label: 'Account',
          onCard: 'title',
          cell: ({ account_id, email }) => (
            <AccountLink accountId={account_id}>
              <bdi>{email}</bdi>
            </AccountLink>
          ),
        },
        { label: 'Name', cell: ({ name }) => <bdi>{name}</bdi> },
        { label: 'Role', cell: ({ role, member_role }) => member_role ?? role },
        { label: 'Joined', cell: ({ joined_at }) => <Moment at={joined_at} /> },
      ]}
    />
  );
}

/** As the customer's own page explains it, with what to tell them. */
function Why({ code, detail }: { code: string; detail: string | null }) {
  const { title, meaning, fix } = explainCode(code);
  return (
    <>
      {title} (<code>{code}</code>)
      <details>
        <summary>Explain</summary>
        {meaning !== undefined && <p>{meaning}</p>}
        {detail !== null && (
          <p>
            <bdi>{detail}</bdi>
          </p>
        )}
        {fix !== undefined && <p>{fix}</p>}
      </details>
    </>
  );
}

function Used({ at }: { at: string | null }) {
  return at === null ? 'Never' : <Moment at={at} />;
}

function Status({ status }: { status: string }) {
  // Applications and tokens write it differently.
  return <Badge tone={status.toLowerCase() === 'active' ? 'good' : 'neutral'}>{status}</Badge>;
}
