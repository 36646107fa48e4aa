import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { ApiError, hasStatus, onSessionExpired } from '../../api/client.ts';
import { brand } from '../../api/brand.ts';
import { EntryPage } from '../../pages/entry/entry-page.tsx';
import { router } from '../../router.tsx';
import { ErrorMessage } from '../../ui/page/states.tsx';
import { viewQuery } from '../api/view.ts';

/** The customer's pages while the view goes on. When it has ended, nothing of them is left on the screen. */
export function CustomerView() {
  const hasEnded = useEnd();
  const view = useQuery({ ...viewQuery, enabled: !hasEnded });
  if (hasEnded) return <Ended />;
  if (view.isPending) return null;
  if (view.data === undefined) {
    return (
      <EntryPage title={`${brand.name} is unavailable`}>
        <ErrorMessage error={view.error} what="the view" onRetry={() => void view.refetch()} isAlone />
      </EntryPage>
    );
  }
  return <RouterProvider router={router} />;
}

/** Whether any request was refused because the view, or the operator's session, has ended. */
function useEnd(): boolean {
  const queryClient = useQueryClient();
  const [hasEnded, setEnded] = useState(false);
  useEffect(() => {
    onSessionExpired(() => {
      setEnded(true);
    });
    return queryClient.getQueryCache().subscribe((event) => {
      if (event.type === 'updated' && event.action.type === 'error' && isOver(event.action.error)) {
        setEnded(true);
      }
    });
  }, [queryClient]);
  return hasEnded;
}

function isOver(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  return hasStatus(error, 401) || ['view_ended', 'insufficient_role'].includes(error.problem?.code ?? '');
}

function Ended() {
  return (
    <EntryPage title="This view has ended">
      <p>A view ends after 15 minutes, when you stop or sign out, or when the customer forbids it.</p>
      <p>
        <a href="/operator/">Back to the operators’ console</a>
      </p>
    </EntryPage>
  );
}
