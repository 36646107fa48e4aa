import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams, useRouter } from '@tanstack/react-router';
import { brand } from '../../../api/brand.ts';
import { api, hasStatus, resultOf } from '../../../api/client.ts';
import type { components } from '../../../api/schema.d.ts';
import { useSignOut } from '../../../api/sign-out.ts';
import { Button } from '../../../ui/button.tsx';
import pageStyles from '../../../ui/page/page.module.css';
import { Badge, ErrorMessage, Skeleton } from '../../../ui/page/states.tsx';
import { EntryPage } from '../entry-page.tsx';
import styles from './connect.module.css';

type Asked = components['schemas']['AuthorizationRequest'];

/** `/user/connect/<request>`: what an application asks for, who pays, and the person's answer. */
export function ConnectPage() {
  const { requestId } = useParams({ from: '/connect/$requestId' });
  const params = { params: { path: { request_id: requestId } } };
  const asked = useQuery({
    queryKey: ['authorization-request', requestId],
    queryFn: ({ signal }) =>
      resultOf(api.GET('/api/console/authorization-requests/{request_id}', { signal, ...params })),
    staleTime: Infinity,
    retry: false,
  });
  const answer = useMutation({
    mutationFn: async (choice: 'allow' | 'deny') =>
      choice === 'allow'
        ? resultOf(api.POST('/api/console/authorization-requests/{request_id}/allow', params))
        : resultOf(api.POST('/api/console/authorization-requests/{request_id}/deny', params)),
    onSuccess: ({ redirect_to }) => {
      window.location.assign(redirect_to);
    },
  });
  if (answer.isSuccess) return <Answered choice={answer.variables} />;
  if (hasStatus(asked.error, 404) || hasStatus(answer.error, 404)) return <NoLongerAsked />;
  if (asked.data === undefined) {
    return (
      <EntryPage title="Authorize an application">
        {asked.isPending && <Skeleton rows={5} />}
        {asked.isError && (
          <ErrorMessage error={asked.error} what="this request" onRetry={() => void asked.refetch()} />
        )}
      </EntryPage>
    );
  }
  const { application, account, is_forbidden_by_team } = asked.data;
  return (
    <EntryPage title={`Connect ${application.name}?`}>
      <Application asked={asked.data} />
      {!application.is_verified && <Unverified />}
      <section aria-labelledby="may">
        <h2 id="may" className={styles['heading']}>
          It may, until you disconnect it
        </h2>
        <ul className={styles['list']}>
          {asked.data.scopes.includes('api') && <li>call the {brand.name} data API for your account</li>}
          {asked.data.scopes.includes('mcp') && (
            <li>let an AI agent query the {brand.name} data API for your account</li>
          )}
          {asked.data.scopes.includes('mcp:write') && (
            <li>let the agent change data, where your plan allows it</li>
          )}
          <li>read your account’s usage, limits and credits</li>
        </ul>
      </section>
      <Payer asked={asked.data} />
      {is_forbidden_by_team && (
        <p className={styles['warning']}>
          Your team doesn’t allow applications to act for its members. Ask its manager.
        </p>
      )}
      {answer.isError && <ErrorMessage error={answer.error} isChange />}
      <div className={styles['answers']}>
        <Button
          isPending={answer.isPending && answer.variables === 'deny'}
          isDisabled={answer.isPending}
          onPress={() => {
            answer.mutate('deny');
          }}
        >
          Deny
        </Button>
        <Button
          variant="primary"
          isPending={answer.isPending && answer.variables === 'allow'}
          isDisabled={answer.isPending || is_forbidden_by_team}
          onPress={() => {
            answer.mutate('allow');
          }}
        >
          Allow
        </Button>
      </div>
      <SignedInAs account={account} />
    </EntryPage>
  );
}

/** Who asks. Anyone can choose names, so the host and the client ID, which they can't choose freely, stand beside them. */
function Application({ asked: { application, redirect_host, redirect_scheme } }: { asked: Asked }) {
  return (
    <dl className={pageStyles['facts']}>
      <dt>Application</dt>
      <dd>
        <bdi>{application.name}</bdi>{' '}
        {application.is_verified ? (
          <Badge tone="good">Verified</Badge>
        ) : (
          <Badge tone="warning">Not verified</Badge>
        )}
      </dd>
      <dt>Made by</dt>
      <dd>
        {application.developer === null ? (
          'Unknown: it registered itself.'
        ) : (
          <bdi>{application.developer}</bdi>
        )}
      </dd>
      <dt>Sends you to</dt>
      <dd>{redirect_host ?? programOf(redirect_scheme)}</dd>
      <dt>Client ID</dt>
      <dd>
        <code className={styles['id']}>{application.client_id}</code>
      </dd>
    </dl>
  );
}

function programOf(scheme: string): string {
  return scheme === 'http' ? 'A program on this computer' : `The app ${scheme} on this device`;
}

/** What the names alone don't say. */
function Unverified() {
  return (
    <p className={styles['warning']}>
      {brand.name} hasn’t verified this application, and anyone can choose a name. Allow it only if you know
      who made it, and have just asked it to connect.
    </p>
  );
}

function Payer({ asked: { payer } }: { asked: Asked }) {
  return (
    <section aria-labelledby="payer">
      <h2 id="payer" className={styles['heading']}>
        Who pays
      </h2>
      {payer.is_own ? (
        <p>Its calls use the points of your plan.</p>
      ) : (
        <p>
          Its calls use the points of the team <bdi>{payer.team_name}</bdi>, which <bdi>{payer.name}</bdi>{' '}
          pays for. If you leave the team, they use your own plan.
        </p>
      )}
    </section>
  );
}

function SignedInAs({ account }: { account: Asked['account'] }) {
  const signOut = useSignOut();
  const here = useRouter().latestLocation.href;
  return (
    <p className={styles['account']}>
      Signed in as <bdi>{account.email}</bdi>.{' '}
      <Button
        variant="quiet"
        onPress={() => {
          // To sign in as someone else, and come back to the same request.
          void signOut(here);
        }}
      >
        Not you?
      </Button>
    </p>
  );
}

function Answered({ choice }: { choice: 'allow' | 'deny' }) {
  return (
    <EntryPage title={choice === 'allow' ? 'Connected' : 'Not connected'}>
      <p role="status">
        You are being sent back to the application. You can close this page if it stays open.
      </p>
    </EntryPage>
  );
}

function NoLongerAsked() {
  return (
    <EntryPage title="This request is over">
      <p>It was answered already, or is older than ten minutes. Nothing has changed.</p>
      <p>Go back to the application, and connect it again from there.</p>
    </EntryPage>
  );
}
