import { QueryClientProvider, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';
import { brand } from '../api/brand.ts';
import { onSessionExpired, setCsrfToken } from '../api/client.ts';
import { onSessionChange } from '../api/tabs.ts';
import { EntryPage } from '../pages/entry/entry-page.tsx';
import { createQueryClient } from '../query-client.ts';
import { ErrorMessage } from '../ui/page/states.tsx';
import type { OperatorSession } from './api/client.ts';
import { operatorSessionQuery, takeLinkFromAddress } from './api/session.ts';
import type { AnswerInAddress, LinkInAddress } from './api/session.ts';
import { OperatorShell } from './shell.tsx';
import { OperatorSignIn } from './sign-in.tsx';

/** The sign-in, or the pages behind it: nothing of them is asked for without a session. */
export function OperatorConsole(given: { link: LinkInAddress | null; answer: AnswerInAddress | null }) {
  // Both work once, so after signing out they are not offered again.
  const [link, setLink] = useState(given.link);
  const [answer, setAnswer] = useState(given.answer);
  const queryClient = useQueryClient();
  const session = useQuery(operatorSessionQuery);
  const { refetch } = session;
  const begin = (begun: OperatorSession | null) => {
    setCsrfToken(begun?.csrf_token ?? null);
    setLink(null);
    setAnswer(null);
    queryClient.setQueryData(operatorSessionQuery.queryKey, begun);
  };
  useEffect(() => {
    onSessionExpired(() => {
      setCsrfToken(null);
      queryClient.setQueryData(operatorSessionQuery.queryKey, null);
    });
  }, [queryClient]);
  useEffect(() => onSessionChange(() => void refetch()), [refetch]);
  useEffect(() => {
    // One that is pasted into an open tab doesn't load the page. It may come while the page begins.
    const take = () => {
      const pasted = takeLinkFromAddress();
      if (pasted !== null) setLink(pasted);
    };
    take();
    addEventListener('hashchange', take);
    return () => {
      removeEventListener('hashchange', take);
    };
  }, []);
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
  if (session.data === null || link !== null || answer !== null) {
    return (
      <OperatorSignIn
        link={link}
        answer={answer}
        onSignedIn={begin}
        onGiveUp={() => {
          setLink(null);
          setAnswer(null);
          // The answer may have ended the session.
          void refetch();
        }}
      />
    );
  }
  return (
    <OwnCache key={session.data.session_id}>
      <OperatorShell
        session={session.data}
        onSignedOut={() => {
          begin(null);
        }}
      />
    </OwnCache>
  );
}

/** What one operator has read isn't the next one's, also where another tab has signed them in. */
function OwnCache({ children }: { children: ReactNode }) {
  const [client] = useState(createQueryClient);
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}
