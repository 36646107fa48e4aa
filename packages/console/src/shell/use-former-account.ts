import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { onSessionReplaced } from '../api/client.ts';
import type { Session } from '../api/client.ts';
import { sessionQuery } from '../api/session.ts';

/**
 * The address of the account that this tab's pages and forms belong to, once another window has signed in as another
 * one; null before. A request that is refused for it reads the session anew.
 */
export function useFormerAccount(session: Session | null | undefined): string | null {
  const queryClient = useQueryClient();
  const [first] = useState(session);
  const accountId = first?.account_id;
  useEffect(() => {
    onSessionReplaced(async () => {
      const read = await queryClient.query({ ...sessionQuery, staleTime: 0 });
      return read !== null && read.account_id === accountId;
    });
    return () => {
      onSessionReplaced(() => Promise.resolve(false));
    };
  }, [queryClient, accountId]);
  const isAnother =
    accountId !== undefined && session?.account_id !== undefined && session.account_id !== accountId;
  return isAnother ? (first?.email ?? null) : null;
}
