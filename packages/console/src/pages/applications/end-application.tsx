import { useQuery, useQueryClient } from '@tanstack/react-query';
import { api, resultOf } from '../../api/client.ts';
import type { Application } from '../../api/client.ts';
import { wasUsedLately } from '../../ui/used-lately.ts';
import { ConfirmByName } from '../../ui/form/confirm-by-name.tsx';
import { formatNumber } from '../../ui/format.ts';
import type { DialogState } from '../../ui/dialog.tsx';
import { Moment } from '../../ui/moment.tsx';
import { ErrorMessage, Skeleton } from '../../ui/page/states.tsx';
import { applicationQuery } from './queries.ts';

type Action = 'Revoke' | 'Delete';

type EndApplicationProps = DialogState & { application: Application; action: Action; onDone?: () => void };

/** Ends an application: **Revoke** keeps it listed, **Delete** doesn't. Both say what stops working. */
export function EndApplication({ application, action, onDone, isOpen, onClose }: EndApplicationProps) {
  const queryClient = useQueryClient();
  const { application_id, name } = application;
  const params = { params: { path: { application_id } } };
  return (
    <ConfirmByName
      title={
        <>
          {action} <bdi>{name}</bdi>?
        </>
      }
      name={name}
      of="application"
      action={action}
      asksName={wasUsedLately(application.last_used_at)}
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={async () => {
        if (action === 'Delete')
          await resultOf(api.DELETE('/api/console/applications/{application_id}', params));
        else await resultOf(api.POST('/api/console/applications/{application_id}/revoke', params));
      }}
      onDone={() => {
        onDone?.();
        void queryClient.invalidateQueries({ queryKey: ['applications'] });
        void queryClient.invalidateQueries({ queryKey: ['tokens'] });
      }}
    >
      <Consequences application={application} action={action} />
    </ConfirmByName>
  );
}

function Consequences({ application, action }: { application: Application; action: Action }) {
  const { data, isPending, isError, error } = useQuery({
    ...applicationQuery(application.application_id),
    staleTime: 0,
  });
  if (isPending) return <Skeleton rows={2} />;
  if (isError) return <ErrorMessage error={error} />;
  const { active_manual_tokens, last_used_at, status, type } = data;
  return (
    <>
      {status === 'active' ? (
        <p>
          {active_manual_tokens > 0 && <strong>{tokensInWords(active_manual_tokens)}</strong>}
          {active_manual_tokens > 0 ? ', the client secret' : 'The client secret'} and all tokens that your
          programs got with it stop working within a second.{' '}
          {last_used_at === null ? (
            'The application has never been used.'
          ) : (
            <>
              The application was last used <Moment at={last_used_at} />.
            </>
          )}
        </p>
      ) : (
        <p>The application is revoked: its tokens and its client secret have stopped working already.</p>
      )}
      {type === 'authorization' && (
        <p>Everyone who has connected it is disconnected, and has to allow it again.</p>
      )}
      <p>
        {action === 'Revoke'
          ? 'It stays in your list. Rotating its client secret activates it again, without its old tokens.'
          : 'It disappears from your list for good. Its past usage stays.'}
      </p>
    </>
  );
}

function tokensInWords(count: number): string {
  return count === 1 ? '1 manually created token' : `${formatNumber(count)} manually created tokens`;
}
