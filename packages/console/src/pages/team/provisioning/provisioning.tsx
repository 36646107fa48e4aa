import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { Moment } from '../../../ui/moment.tsx';
import styles from '../../../ui/page/page.module.css';
import { ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import { CopyLine } from '../../../ui/secret/secret-line.tsx';
import { SecretOnce } from '../../../ui/secret/secret-once.tsx';
import { ConfirmationProvider, useConfirmed } from '../../account/confirmation.tsx';
import { roleInWords } from '../member-roles.ts';
import { domainsQuery, invite, provisioningQuery } from '../queries.ts';
import type { Provisioning as Known } from '../queries.ts';
import { useTeamChange } from '../use-team-change.ts';
import { EndProvisioning } from './end-provisioning.tsx';
import { ProvisioningRoles } from './provisioning-roles.tsx';
import { ProvisioningTokens } from './provisioning-tokens.tsx';

const MAX_TOKENS = 2;

/** A company's directory adds and removes the team's members, for the manager. */
export function Provisioning() {
  const { data: known, isPending, error, refetch } = useQuery(provisioningQuery);
  return (
    <section className={styles['card']} aria-labelledby="provisioning">
      <h2 id="provisioning">Provisioning</h2>
      <p className={styles['muted']}>
        Your company’s directory, such as Entra ID or Okta, adds and removes members by SCIM 2.0. People whom
        it removes lose their sessions, and the tokens and applications made in the team, at once.
      </p>
      {isPending && <Skeleton rows={2} />}
      {error !== null && <ErrorMessage error={error} what="provisioning" onRetry={() => void refetch()} />}
      {known !== undefined && (
        <ConfirmationProvider>
          <Parts known={known} />
        </ConfirmationProvider>
      )}
    </section>
  );
}

function Parts({ known }: { known: Known }) {
  const { base_url, settings, tokens } = known;
  return (
    <>
      {settings !== null && (
        <>
          <CopyLine label="Base URL" text={base_url} what="base URL" />
          <ProvisioningTokens tokens={tokens} />
          <People known={known} />
          <Refused known={known} />
        </>
      )}
      <DomainNote />
      <div className={styles['actions']}>
        {tokens.length < MAX_TOKENS && <CreateToken known={known} />}
        {settings !== null && (
          <>
            <ProvisioningRoles settings={settings} groups={known.groups} />
            <EndProvisioning />
          </>
        )}
      </div>
    </>
  );
}

/** A directory can add only people of proven domains. */
function DomainNote() {
  const { data: domains } = useQuery(domainsQuery);
  const isMissing = domains?.every(({ status }) => status !== 'proven' && status !== 'missing') === true;
  return isMissing ? <p>Verify a domain, above: the directory can add only people of your domains.</p> : null;
}

function CreateToken({ known: { base_url } }: { known: Known }) {
  const [token, setToken] = useState<string>();
  const confirmed = useConfirmed();
  const creation = useTeamChange(async () => {
    const made = await confirmed(() =>
      resultOf(api.POST('/api/console/team/provisioning/tokens', { body: {} })),
    );
    setToken(made.token);
  });
  return (
    <>
      <Button
        isPending={creation.isPending}
        onPress={() => {
          creation.mutate();
        }}
      >
        Create token
      </Button>
      {creation.error !== null && <ErrorMessage error={creation.error} />}
      {token !== undefined && (
        <SecretOnce
          title="Token for your directory"
          what="token"
          secret={token}
          env={{ fileName: 'scim.env', text: `SCIM_BASE_URL=${base_url}\nSCIM_TOKEN=${token}\n` }}
          onClose={() => {
            setToken(undefined);
          }}
        >
          <p>Give it to your directory together with the base URL.</p>
          <CopyLine label="Base URL" text={base_url} what="base URL" />
        </SecretOnce>
      )}
    </>
  );
}

function People({ known: { people, groups, manual_roles } }: { known: Known }) {
  return (
    <>
      <p>
        {`In the team: ${formatNumber(people.active)}. Known to the directory, and not in the team: ${formatNumber(people.inactive)}. Groups: ${formatNumber(groups.length)}.`}
      </p>
      {manual_roles.length > 0 && (
        <>
          <p>Roles set by hand:</p>
          <ul>
            {manual_roles.map((member) => (
              <li key={member.account_id}>
                <bdi>{member.email}</bdi>: {roleInWords(member)}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Refused({ known: { refused } }: { known: Known }) {
  if (refused.length === 0) return null;
  return (
    <>
      <p>These people have an account of their own, which the directory can’t take. Invite them:</p>
      <ul>
        {refused.map((one) => (
          <li key={one.email}>
            <bdi>{one.email}</bdi>, <Moment at={one.refused_at} /> <InviteRefused email={one.email} />
          </li>
        ))}
      </ul>
    </>
  );
}

function InviteRefused({ email }: { email: string }) {
  const invitation = useTeamChange(() => invite(email, 'developer'));
  if (invitation.isSuccess) return <>Invitation sent.</>;
  return (
    <>
      <Button
        variant="quiet"
        aria-label={`Invite ${email}`}
        isPending={invitation.isPending}
        onPress={() => {
          invitation.mutate();
        }}
      >
        Invite
      </Button>
      {invitation.error !== null && <ErrorMessage error={invitation.error} />}
    </>
  );
}
