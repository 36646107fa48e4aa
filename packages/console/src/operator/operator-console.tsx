import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { QueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { brand } from '../api/brand.ts';
import { onSessionExpired, setCsrfToken } from '../api/client.ts';
import { EntryPage } from '../pages/entry/entry-page.tsx';
import { ErrorMessage } from '../ui/page/states.tsx';
import type { OperatorSession } from './api/client.ts';
import { operatorSessionQuery } from './api/session.ts';
import type { LinkInAddress } from './api/session.ts';
import { OperatorShell } from './shell.tsx';
import { OperatorSignIn } from './sign-in.tsx';

/** The sign-in, or the pages behind it: nothing of them is asked for without a session. */
export function OperatorConsole({ link: given }: { link: LinkInAddress | null }) {
  // It works once, so after signing out it is not offered again.
  const [link, setLink] = useState(given);
  const queryClient = useQueryClient();
  const session = useQuery(operatorSessionQuery);
  const begin = (begun: OperatorSession | null) => {
    setCsrfToken(begun?.csrf_token ?? null);
    setLink(null);
    forgetPages(queryClient);
    queryClient.setQueryData(operatorSessionQuery.queryKey, begun);
  };
  useEffect(() => {
    onSessionExpired(() => {
      setCsrfToken(null);
      forgetPages(queryClient);
      queryClient.setQueryData(operatorSessionQuery.queryKey, null);
    });
  }, [queryClient]);
  if (session.isPending) return null;
  if (session.isError) {
    return (
      <EntryPage title={`${brand.name} is unavailable`}>
        <ErrorMessage
          error={session.error}
          what="your session"
          onRetry={() => void session.refetch()}
          isAlone
        />
      </EntryPage>
    );
  }
  if (session.data === null) return <OperatorSignIn link={link} onSignedIn={begin} />;
  return (
    <OperatorShell
      session={session.data}
      onSignedOut={() => {
        begin(null);
      }}
    />
  );
}

/** What one operator has read isn't the next one's. The session itself is observed, so it is changed, not removed. */
function forgetPages(queryClient: QueryClient): void {
  const [own] = operatorSessionQuery.queryKey;
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== own });
}
