import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, resultOf } from '../api/client.ts';
import type { Application, Token } from '../api/client.ts';
import { applicationTokensQuery } from '../api/queries.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { Moment } from '../ui/moment.tsx';
import { Badge, Empty, ErrorMessage, Skeleton } from '../ui/states.tsx';
import { TextField } from '../ui/text-field.tsx';
import styles from './page.module.css';

const TONES = { Active: 'good', Expired: 'neutral', Revoked: 'neutral' } as const;

/** **Manually created access tokens**: generate, copy without revealing, revoke. */
export function TokenList({ application }: { application: Application }) {
  const { application_id, status } = application;
  const { data, isError, isPending, error, refetch } = useQuery(applicationTokensQuery(application_id));
  const [isGenerating, setGenerating] = useState(false);
  return (
    <section className={styles['card']} aria-labelledby="tokens">
      <div className={styles['header']}>
        <h2 id="tokens">Manually created access tokens</h2>
        {status === 'active' && (
          <Button
            variant="primary"
            onPress={() => {
              setGenerating(true);
            }}
          >
            Generate New Token
          </Button>
        )}
      </div>
      {isPending && <Skeleton />}
      {data === undefined && isError && <ErrorMessage error={error} onRetry={() => void refetch()} />}
      {data?.tokens.length === 0 && (
        <Empty title="No tokens yet">
          <p>Generate a token here, or have your program request one with the client ID and secret.</p>
        </Empty>
      )}
      {data !== undefined && data.tokens.length > 0 && <TokenTable tokens={data.tokens} />}
      <GenerateToken
        application={application}
        isOpen={isGenerating}
        onClose={() => {
          setGenerating(false);
        }}
      />
    </section>
  );
}

function TokenTable({ tokens }: { tokens: readonly Token[] }) {
  return (
    <div className={styles['scroll']} tabIndex={0} role="region" aria-label="Tokens">
      <table className={styles['table']}>
        <thead>
          <tr>
            {['Name', 'Status', 'Created', 'Expires', 'Last used', 'Actions'].map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <TokenRow key={token.token_id} token={token} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TokenRow({ token }: { token: Token }) {
  const { name, status, issued_at, expires_at, last_used_at } = token;
  const [copyError, setCopyError] = useState<unknown>(null);
  return (
    <tr>
      <td>{name}</td>
      <td>
        <Badge tone={TONES[status]}>{status}</Badge>
      </td>
      <td>
        <Moment at={issued_at} />
      </td>
      <td>
        <Moment at={expires_at} />
      </td>
      <td>{last_used_at === null ? 'Never' : <Moment at={last_used_at} />}</td>
      <td>
        {status === 'Active' && (
          <div className={styles['actions']}>
            <CopyButton what={`token ${name}`} text={() => fetchToken(token)} onError={setCopyError} />
            <RevokeToken token={token} />
          </div>
        )}
        {copyError !== null && <ErrorMessage error={copyError} />}
      </td>
    </tr>
  );
}

/** The token itself, which is neither kept nor shown. */
async function fetchToken({ application_id, token_id }: Token): Promise<string> {
  const path = { application_id, token_id };
  const copied = await resultOf(
    api.POST('/api/console/applications/{application_id}/tokens/{token_id}/copy', { params: { path } }),
  );
  return copied.access_token;
}

function RevokeToken({ token }: { token: Token }) {
  const queryClient = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  const { application_id, token_id, name } = token;
  const close = () => {
    setOpen(false);
  };
  const revocation = useMutation({
    mutationFn: () =>
      resultOf(
        api.POST('/api/console/applications/{application_id}/tokens/{token_id}/revoke', {
          params: { path: { application_id, token_id } },
        }),
      ),
    onSuccess: async () => {
      close();
      await queryClient.invalidateQueries({ queryKey: ['applications', application_id, 'tokens'] });
    },
  });
  return (
    <>
      <Button
        variant="danger"
        aria-label={`Revoke token ${name}`}
        onPress={() => {
          setOpen(true);
        }}
      >
        Revoke
      </Button>
      <Dialog title={`Revoke token ${name}?`} isOpen={isOpen} onClose={close}>
        <p>Calls with this token are refused within a second. You cannot undo this.</p>
        {revocation.isError && <ErrorMessage error={revocation.error} />}
        <div className={styles['actions']}>
          <Button
            variant="danger"
            isPending={revocation.isPending}
            onPress={() => {
              revocation.mutate();
            }}
          >
            Revoke token
          </Button>
          <Button onPress={close}>Cancel</Button>
        </div>
      </Dialog>
    </>
  );
}

type GenerateTokenProps = { application: Application; isOpen: boolean; onClose: () => void };

function GenerateToken({ application, isOpen, onClose }: GenerateTokenProps) {
  const queryClient = useQueryClient();
  const { application_id, token_lifespan_label } = application;
  return (
    <Dialog title="Generate Access Token" isOpen={isOpen} onClose={onClose}>
      <p>The token is valid for {token_lifespan_label}. You can copy it from the list at any time.</p>
      <Form
        submitLabel="Generate"
        onCancel={onClose}
        onSubmit={(values) =>
          resultOf(
            api.POST('/api/console/applications/{application_id}/tokens', {
              params: { path: { application_id } },
              body: { name: values['name'] ?? '' },
            }),
          )
        }
        onDone={() => {
          onClose();
          void queryClient.invalidateQueries({ queryKey: ['applications', application_id, 'tokens'] });
        }}
      >
        {(errors) => (
          <TextField
            label="Name"
            name="name"
            autoComplete="off"
            description="Where the token is used, for example: nightly report."
            error={errors['name']}
            autoFocus
          />
        )}
      </Form>
    </Dialog>
  );
}
