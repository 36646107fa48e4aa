import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { api, resultOf, setCsrfToken } from '../api/client.ts';
import { clearExplorerStorage } from '../api/explorer-storage.ts';

/** Ends the session of this browser, and drops what it holds. */
export function useSignOut(): () => Promise<void> {
  const queryClient = useQueryClient();
  const navigate = useNavigate();
  return async () => {
    await resultOf(api.DELETE('/api/console/session'));
    setCsrfToken(null);
    clearExplorerStorage();
    queryClient.clear();
    await navigate({ to: '/sign-in', search: {} });
  };
}
