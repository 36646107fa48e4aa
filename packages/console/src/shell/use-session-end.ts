import { useEffect, useState } from 'react';
import { onSessionExpired } from '../api/client.ts';

/** Whether a request was refused because the session has ended, and how to say that there is a new one. */
export function useSessionEnd(sessionId: number | undefined): [isExpired: boolean, renew: () => void] {
  const [isExpired, setExpired] = useState(false);
  useEffect(() => {
    onSessionExpired(() => {
      setExpired(true);
    });
    return () => {
      onSessionExpired(() => undefined);
    };
  }, []);
  // Another tab has signed in again.
  useEffect(() => {
    setExpired(false);
  }, [sessionId]);
  const renew = () => {
    setExpired(false);
  };
  return [isExpired, renew];
}
