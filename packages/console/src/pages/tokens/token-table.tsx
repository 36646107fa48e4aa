import { useState } from 'react';
import type { ReactNode } from 'react';
import { api, resultOf } from '../../api/client.ts';
import type { Token } from '../../api/client.ts';
import { CopyButton } from '../../ui/copy-button.tsx';
import { ActionsCell, Table } from '../../ui/list/table.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Badge, ErrorMessage } from '../../ui/page/states.tsx';
import { RevokeToken } from './revoke-token.tsx';

const COLUMNS = ['Status', 'Created', 'Expires', 'Last used', 'Actions'];
const TONES = { Active: 'good', Expired: 'neutral', Revoked: 'neutral' } as const;

type TokenTableProps<Shown extends Token> = {
  tokens: readonly Shown[];
  /** What the column "Application" shows; without it there is no such column. */
  applicationOf?: (token: Shown) => ReactNode;
};

/** Tokens with their status, copied without being shown, and revoked. */
export function TokenTable<Shown extends Token>({ tokens, applicationOf }: TokenTableProps<Shown>) {
  const columns = ['Name', ...(applicationOf === undefined ? [] : ['Application']), ...COLUMNS];
  return (
    <Table label="Tokens" columns={columns}>
      {tokens.map((token) => (
        <TokenRow key={token.token_id} token={token} application={applicationOf?.(token)} />
      ))}
    </Table>
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
      <ActionsCell>
        {status === 'Active' && (
          <>
            <CopyButton what={`token ${name}`} text={() => fetchToken(token)} onError={setCopyError} />
            <RevokeToken token={token} />
          </>
        )}
        {copyError !== null && <ErrorMessage error={copyError} />}
      </ActionsCell>
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
