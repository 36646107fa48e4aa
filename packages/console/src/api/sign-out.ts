import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { api, resultOf, setCsrfToken } from './client.ts';
import { clearExplorerStorage } from './explorer-storage.ts';

/** Ends the session of this browser, then does what `useLeave` does. */
export function useSignOut(): (next?: string) => Promise<void> {
  const leave = useLeave();
  return async (next) => {
    await resultOf(api.DELETE('/api/console/session'));
    await leave(next);
  };
}

/** Drops what the browser holds of a session that has ended, and asks to sign in. `next`: the page to return to. */
export function useLeave(): (next?: string) => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return useCallback(
    async (next) => {
      setCsrfToken(null);
      clearExplorerStorage();
      queryClient.clear();
      await navigate({ to: '/sign-in', search: next === undefined ? {} : { next } });
    },
    [queryClient, navigate],
  );
}
