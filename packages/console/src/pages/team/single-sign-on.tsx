import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { api, resultOf } from '../../api/client.ts';
import { goToSsoTest } from '../../api/sso.ts';
import { Button } from '../../ui/button.tsx';
import { Form } from '../../ui/form/form.tsx';
import { TextField } from '../../ui/form/text-field.tsx';
import { formatNumber } from '../../ui/format.ts';
import { Moment } from '../../ui/moment.tsx';
import styles from '../../ui/page/page.module.css';
import { Badge, ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { CopyLine } from '../../ui/secret/secret-line.tsx';
import { ConfirmationProvider, useConfirmed } from '../account/confirmation.tsx';
import { ssoQuery } from './queries.ts';
import type { TeamSso } from './queries.ts';
import { useTeamRefresh } from './use-team-change.ts';

type Provider = NonNullable<TeamSso['provider']>;

/** The identity provider of a team, for its manager. */
export function SingleSignOn() {
  const { data: sso, isPending, error, refetch } = useQuery(ssoQuery);
  return (
    <section className={styles['card']} aria-labelledby="single-sign-on">
      <div className={styles['header']}>
        <h2 id="single-sign-on">Single sign-on</h2>
        {sso !== undefined && <Status sso={sso} />}
      </div>
      <p className={styles['muted']}>
        People with an email address of your verified domains sign in by your company’s identity provider,
        with OpenID Connect. Those who have no account get one, and join your team.
      </p>
      {isPending && <Skeleton rows={2} />}
      {error !== null && (
        <ErrorMessage error={error} what="your single sign-on" onRetry={() => void refetch()} />
      )}
      {sso !== undefined && (
        <ConfirmationProvider>
          <Settings sso={sso} />
          {sso.provider !== null && <Requirement sso={sso} provider={sso.provider} />}
        </ConfirmationProvider>
      )}
    </section>
  );
}

function Status({ sso: { provider } }: { sso: TeamSso }) {
  if (provider === null) return <Badge tone="neutral">Off</Badge>;
  return <Badge tone="good">{provider.required_at === null ? 'On' : 'Required'}</Badge>;
}

function Settings({ sso }: { sso: TeamSso }) {
  const [isOpen, setOpen] = useState(false);
  const { provider, redirect_uri } = sso;
  if (isOpen) {
    return (
      <SettingsForm
        sso={sso}
        onClose={() => {
          setOpen(false);
        }}
      />
    );
  }
  if (provider === null) {
    return (
      <div className={styles['actions']}>
        <Button
          onPress={() => {
            setOpen(true);
          }}
        >
          Set up single sign-on
        </Button>
      </div>
    );
  }
  return (
    <>
      <dl className={styles['facts']}>
        <dt>Issuer</dt>
        <dd>{provider.issuer}</dd>
        <dt>Client ID</dt>
        <dd>{provider.client_id}</dd>
        <dt>Last sign-in</dt>
        <dd>{provider.last_signed_in_at === null ? 'Never' : <Moment at={provider.last_signed_in_at} />}</dd>
        {provider.last_failed_at !== null && (
          <>
            <dt>Last failure</dt>
            <dd>
              <Moment at={provider.last_failed_at} />: <bdi>{provider.last_failure}</bdi>
            </dd>
          </>
        )}
      </dl>
      <CopyLine label="Redirect URI" text={redirect_uri} what="redirect URI" />
      <Actions
        onChange={() => {
          setOpen(true);
        }}
      />
    </>
  );
}

function Actions({ onChange }: { onChange: () => void }) {
  const confirmed = useConfirmed();
  const refresh = useTeamRefresh();
  const test = useMutation({ mutationFn: goToSsoTest });
  const [isRemoving, setRemoving] = useState(false);
  if (isRemoving) {
    return (
      <Form
        submitLabel="Remove identity provider"
        isDangerous
        onSubmit={() => confirmed(() => resultOf(api.DELETE('/api/console/team/sso')))}
        onDone={refresh}
        onCancel={() => {
          setRemoving(false);
        }}
      >
        {() => (
          <p>
            Everyone who has signed in by it is signed out. Members who have no password get a link by email
            to set one. Your team keeps its members.
          </p>
        )}
      </Form>
    );
  }
  return (
    <>
      {test.isError && <ErrorMessage error={test.error} />}
      <div className={styles['actions']}>
        <Button
          isPending={test.isPending || test.isSuccess}
          onPress={() => {
            test.mutate();
          }}
        >
          Test sign-in
        </Button>
        <Button onPress={onChange}>Change settings</Button>
        <Button
          variant="quiet"
          onPress={() => {
            setRemoving(true);
          }}
        >
          Remove
        </Button>
      </div>
    </>
  );
}

function SettingsForm({ sso: { provider, redirect_uri }, onClose }: { sso: TeamSso; onClose: () => void }) {
  const confirmed = useConfirmed();
  const refresh = useTeamRefresh();
  return (
    <>
      <p>
        At your identity provider, register a web application with this redirect URI and the scopes{' '}
        <code>openid</code>, <code>profile</code> and <code>email</code>. Then enter what it shows you.
      </p>
      <CopyLine label="Redirect URI" text={redirect_uri} what="redirect URI" />
      <Form
        submitLabel="Save"
        onSubmit={({ issuer = '', client_id = '', client_secret = '' }) => {
          const secret = client_secret === '' ? {} : { client_secret };
          const body = { issuer: issuer.trim(), client_id: client_id.trim(), ...secret };
          return confirmed(() => resultOf(api.PUT('/api/console/team/sso', { body })));
        }}
        onDone={() => {
          onClose();
          refresh();
        }}
        onCancel={onClose}
      >
        {(errors) => (
          <>
            <TextField
              label="Issuer"
              name="issuer"
              autoComplete="off"
              description="As your identity provider writes it, such as https://login.example.com"
              defaultValue={provider?.issuer ?? ''}
              error={errors['issuer']}
              maxLength={1_024}
              autoFocus
            />
            <TextField
              label="Client ID"
              name="client_id"
              autoComplete="off"
              defaultValue={provider?.client_id ?? ''}
              error={errors['client_id']}
              maxLength={500}
            />
            <TextField
              label="Client secret"
              name="client_secret"
              autoComplete="off"
              error={errors['client_secret']}
              maxLength={2_000}
              isRequired={provider === null}
              {...(provider === null ? {} : { description: 'Leave it empty to keep the present one.' })}
            />
          </>
        )}
      </Form>
    </>
  );
}

/** Whether members may still sign in otherwise. */
function Requirement({ sso, provider }: { sso: TeamSso; provider: Provider }) {
  const confirmed = useConfirmed();
  const refresh = useTeamRefresh();
  const isRequired = provider.required_at !== null;
  const change = useMutation({
    mutationFn: () =>
      confirmed(() =>
        isRequired
          ? resultOf(api.DELETE('/api/console/team/sso/requirement'))
          : resultOf(api.PUT('/api/console/team/sso/requirement')),
      ),
    onSuccess: refresh,
  });
  const { covered, uncovered } = sso.members;
  const { signed_in_by_it, has_second_factor } = sso.can_require;
  const isReady = signed_in_by_it && has_second_factor;
  return (
    <>
      {isRequired ? (
        <p>
          {membersInWords(covered)} can sign in only by single sign-on. You, the manager, can always use your
          password and second factor.
        </p>
      ) : (
        <p>
          You can require single sign-on. Then {membersInWords(covered)} can’t use a password any more, and
          other sessions end. Tokens keep working, and you, the manager, keep your password and second factor.
        </p>
      )}
      {uncovered > 0 && (
        <p className={styles['muted']}>
          {membersInWords(uncovered)} {uncovered === 1 ? 'has an address' : 'have addresses'} outside of your
          verified domains, so it can’t be required of them.
        </p>
      )}
      {!isRequired && !isReady && (
        <>
          {!has_second_factor && (
            <p>
              First set up a second factor on the page <Link to="/account/security">Security</Link>.
            </p>
          )}
          {!signed_in_by_it && (
            <p>
              First sign out, and{' '}
              <Link to="/sso" search={{ next: '/team' }}>
                sign in by single sign-on
              </Link>
              , so that it is certain to work. That counts for 15 minutes.
            </p>
          )}
        </>
      )}
      {change.isError && <ErrorMessage error={change.error} isChange />}
      {(isRequired || isReady) && (
        <div className={styles['actions']}>
          <Button
            isPending={change.isPending}
            onPress={() => {
              change.mutate();
            }}
          >
            {isRequired ? 'Stop requiring single sign-on' : 'Require single sign-on'}
          </Button>
        </div>
      )}
    </>
  );
}

function membersInWords(count: number): string {
  return count === 1 ? '1 member' : `${formatNumber(count)} members`;
}
