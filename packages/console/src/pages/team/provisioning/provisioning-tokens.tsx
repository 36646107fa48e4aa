import { api, resultOf } from '../../../api/client.ts';
import { Dialog } from '../../../ui/dialog.tsx';
import type { DialogState } from '../../../ui/dialog.tsx';
import { Form } from '../../../ui/form/form.tsx';
import { RowMenu } from '../../../ui/list/row-menu.tsx';
import { Table } from '../../../ui/list/table.tsx';
import { Moment } from '../../../ui/moment.tsx';
import type { Provisioning } from '../queries.ts';
import { useTeamRefresh } from '../use-team-change.ts';

type Token = Provisioning['tokens'][number];

/** The directory's tokens: when each was used last, and what it was last refused. */
export function ProvisioningTokens({ tokens }: { tokens: readonly Token[] }) {
  if (tokens.length === 0) return <p>There is no token: the directory can neither add nor remove anyone.</p>;
  const refused = tokens.flatMap(({ last_error }) => last_error ?? []).toSorted(byTime)[0];
  return (
    <>
      <Table
        label="Provisioning tokens"
        rows={tokens}
        keyOf={({ scim_token_id }) => scim_token_id}
        columns={[
          { label: 'Created', onCard: 'title', cell: ({ created_at }) => <Moment at={created_at} /> },
          { label: 'Expires', cell: ({ expires_at }) => <Moment at={expires_at} /> },
          {
            label: 'Last used',
            cell: ({ last_used_at }) => (last_used_at === null ? 'Never' : <Moment at={last_used_at} />),
          },
        ]}
        actions={(token) => (
          <RowMenu
            name="token"
            actions={[
              {
                label: 'Revoke',
                isDangerous: true,
                dialog: (state) => <RevokeToken {...state} token={token} />,
              },
            ]}
          />
        )}
      />
      {refused !== undefined && (
        <p>
          Refused last, <Moment at={refused.at} />: <bdi>{refused.text}</bdi>
        </p>
      )}
    </>
  );
}

const byTime = (one: { at: string }, other: { at: string }) => other.at.localeCompare(one.at);

function RevokeToken({ token: { scim_token_id }, isOpen, onClose }: DialogState & { token: Token }) {
  const refresh = useTeamRefresh();
  return (
    <Dialog title="Revoke the token?" isOpen={isOpen} onClose={onClose}>
      <Form
        submitLabel="Revoke token"
        isDangerous
        onCancel={onClose}
        onSubmit={() =>
          resultOf(
            api.DELETE('/api/console/team/provisioning/tokens/{scim_token_id}', {
              params: { path: { scim_token_id } },
            }),
          )
        }
        onDone={() => {
          onClose();
          refresh();
        }}
      >
        {() => <p>The directory’s next request with it is refused. Your team keeps its people.</p>}
      </Form>
    </Dialog>
  );
}
