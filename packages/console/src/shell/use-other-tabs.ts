import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { sessionQuery } from '../api/session.ts';
import { useLeave } from '../api/sign-out.ts';
import { onSessionChange } from '../api/tabs.ts';

/** Follows the other tabs: signing out there ends this one, and drops what it holds; so does another account. */
export function useOtherTabs(): void {
  const queryClient = useQueryClient();
  const leave = useLeave();
  useEffect(() => {
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
  }, [queryClient, leave]);
}
