import { useEffect, useEffectEvent, useState } from 'react';
import type { Session } from '../../api/client.ts';
import { signInByAutofill } from '../../api/passkeys.ts';

/** While it is possible, passkeys are offered among the browser's suggestions. Returns why a chosen one failed. */
export function usePasskeyAutofill(isPossible: boolean, onSignedIn: (session: Session) => void): unknown {
  const [error, setError] = useState<unknown>(null);
  const signedIn = useEffectEvent(onSignedIn);
  useEffect(() => {
    if (!isPossible) return undefined;
    const leaving = new AbortController();
    const offer = async () => {
      try {
        const session = await signInByAutofill(leaving.signal);
        if (session !== null) signedIn(session);
      } catch (failure) {
        setError(failure);
      }
    };
    void offer();
    return () => {
      leaving.abort();
    };
  }, [isPossible]);
  return error;
}
