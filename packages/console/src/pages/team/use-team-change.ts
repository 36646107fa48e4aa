import { useMutation, useQueryClient } from '@tanstack/react-query';

/** What a change of the team changes on other pages, too: who pays, for what, and what one may do. */
export function useTeamRefresh(): () => void {
  const queryClient = useQueryClient();
  return () => {
    void queryClient.invalidateQueries();
  };
}

/** A change without a form. */
export function useTeamChange(change: () => Promise<unknown>) {
  const refresh = useTeamRefresh();
  return useMutation({ mutationFn: change, onSuccess: refresh });
}
