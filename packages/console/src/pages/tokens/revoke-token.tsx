import { useQueryClient } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import type { Token } from '../../api/client.ts';
import { wasUsedLately } from '../../ui/used-lately.ts';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import type { DialogState } from '../../ui/dialog.tsx';
import { Moment } from '../../ui/moment.tsx';

/** Ends one token for good. */
export function RevokeToken({ token, isOpen, onClose }: DialogState & { token: Token }) {
  const queryClient = useQueryClient();
  const { application_id, token_id, name, last_used_at } = token;
  return (
    <ConfirmByName
      title={
        <>
          Revoke token <bdi>{name}</bdi>?
        </>
      }
      name={name}
      of="token"
      action="Revoke token"
      asksName={wasUsedLately(last_used_at)}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={() =>
        resultOf(
          api.POST('/api/console/applications/{application_id}/tokens/{token_id}/revoke', {
            params: { path: { application_id, token_id } },
          }),
        )
      }
      onDone={() => {
        void queryClient.invalidateQueries({ queryKey: ['tokens'] });
        void queryClient.invalidateQueries({ queryKey: ['applications', application_id] });
      }}
    >
      <p>
        Calls with this token are refused within a second. You can’t undo this.{' '}
        {last_used_at === null ? (
          'It has never been used.'
        ) : (
          <>
            It was last used <Moment at={last_used_at} />.
          </>
        )}
      </p>
    </ConfirmByName>
  );
}
