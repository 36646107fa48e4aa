import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ReactNode } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { Token } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, ErrorMessage } from '../../ui/page/states.tsx';
import styles from '../../ui/page/page.module.css';

const COLUMNS = ['Status', 'Created', 'Expires', 'Last used', 'Actions'];
const TONES = { Active: 'good', Expired: 'neutral', Revoked: 'neutral' } as const;

type TokenTableProps = {
  tokens: readonly Token[];
  /** What the column "Application" shows; without it there is no such column. */
  applicationOf?: (token: Token) => ReactNode;
};

/** Tokens with their status, copied without being shown, and revoked. */
export function TokenTable({ tokens, applicationOf }: TokenTableProps) {
  const columns = ['Name', ...(applicationOf === undefined ? [] : ['Application']), ...COLUMNS];
  return (
    <div className={styles['scroll']} tabIndex={0} role="region" aria-label="Tokens">
      <table className={styles['table']}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {tokens.map((token) => (
            <TokenRow key={token.token_id} token={token} application={applicationOf?.(token)} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function TokenRow({ token, application }: { token: Token; application: ReactNode }) {
  const { name, status, issued_at, expires_at, last_used_at } = token;
  const [copyError, setCopyError] = useState<unknown>(null);
  return (
    <tr>
      <td>{name}</td>
      {application !== undefined && <td>{application}</td>}
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
      await Promise.all([
        queryClient.invalidateQueries({ queryKey: ['applications', application_id, 'tokens'] }),
        queryClient.invalidateQueries({ queryKey: ['tokens'] }),
      ]);
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
