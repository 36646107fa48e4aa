import { useState } from 'react';
import type { ReactNode } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { Token } from '../../api/client.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { RowMenu } from '../../ui/list/row-menu.tsx';
import { Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, ErrorMessage } from '../../ui/page/states.tsx';
import { RevokeToken } from './revoke-token.tsx';

const TONES = { Active: 'good', Expired: 'neutral', Revoked: 'neutral' } as const;

type TokenTableProps<Shown extends Token> = {
  tokens: readonly Shown[];
  /** What the column "Application" shows; without it there is no such column. */
  applicationOf?: (token: Shown) => ReactNode;
  newTokenId?: number | undefined;
};

/** Tokens with their status, copied without being shown, and revoked. */
export function TokenTable<Shown extends Token>({
  tokens,
  applicationOf,
  newTokenId,
}: TokenTableProps<Shown>) {
  return (
    <Table
      label="Tokens"
      rows={tokens}
      newKey={newTokenId}
      keyOf={({ token_id }) => token_id}
      columns={[
        { label: 'Name', onCard: 'title', cell: ({ name }) => <bdi>{name}</bdi> },
        ...(applicationOf === undefined ? [] : [{ label: 'Application', cell: applicationOf }]),
        {
          label: 'Status',
          onCard: 'status',
          cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge>,
        },
        { label: 'Created', onCard: 'none', cell: ({ issued_at }) => <Moment at={issued_at} /> },
        { label: 'Expires', cell: ({ expires_at }) => <Moment at={expires_at} /> },
        {
          label: 'Last used',
          cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Moment at={last_used_at} />),
        },
      ]}
      actions={(token) => token.status === 'Active' && <TokenActions token={token} />}
    />
  );
}

function TokenActions({ token }: { token: Token }) {
  const { name } = token;
  const [copyError, setCopyError] = useState<unknown>(null);
  return (
    <>
      <CopyButton what={`token ${name}`} text={() => fetchToken(token)} onError={setCopyError} />
      <RowMenu
        name={`token ${name}`}
        actions={[
          {
            label: 'Revoke',
            isDangerous: true,
            dialog: (state) => <RevokeToken {...state} token={token} />,
          },
        ]}
      />
      {copyError !== null && <ErrorMessage error={copyError} />}
    </>
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
