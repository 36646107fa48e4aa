import { useEffect, useState } from 'react';

/** The token of a mail's link, taken out of the address so that it stays in no history and no screenshot. */
export function useLinkToken(): string {
  const [token] = useState(() => new URLSearchParams(location.search).get('token') ?? '');
  useEffect(() => {
    if (location.search !== '') history.replaceState(history.state, '', location.pathname);
  }, []);
  return token;
}
