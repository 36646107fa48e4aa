import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { setCsrfToken } from '../api/client.ts';
import { sessionQuery } from '../api/session.ts';
import { onSessionChange } from '../api/tabs.ts';

/** Follows the other tabs: signing out there ends this one, and drops what it holds; so does another account. */
export function useOtherTabs(): void {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  useEffect(() => {
    async function leave() {
      setCsrfToken(null);
      queryClient.clear();
      await navigate({ to: '/sign-in', search: {} });
    }
    async function adopt() {
      const before = queryClient.getQueryData(sessionQuery.queryKey);
      const session = await queryClient.query({ ...sessionQuery, staleTime: 0 });
      if (session === null) await leave();
      // Of another account, Shell says so.
      else if (before?.account_id === session.account_id)
        await queryClient.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
    }
    return onSessionChange((change) => {
      // If Tollgate can't be reached, the next request shows who is signed in.
      void (change === 'signed-out' ? leave() : adopt().catch(() => undefined));
    });
  }, [queryClient, navigate]);
}
