import { useEffect, useState } from 'react';

/** What a mail's link carries. The token leaves the address, so that it stays in no history and no screenshot. */
export function useLinkToken(): { token: string; purpose: string | null } {
  const [link] = useState(() => {
    const search = new URLSearchParams(location.search);
    return { token: search.get('token') ?? '', purpose: search.get('for') };
  });
  useEffect(() => {
    if (location.search !== '') history.replaceState(history.state, '', location.pathname);
  }, []);
  return link;
}
