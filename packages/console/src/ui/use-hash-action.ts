import { useLocation, useNavigate } from '@tanstack/react-router';
import { useEffect, useEffectEvent } from 'react';

/** Does what a link to `#name` asks for, as the search's actions do, once: the address forgets it. */
export function useHashAction(name: string, act: () => void): void {
  const { hash, pathname } = useLocation();
  const navigate = useNavigate();
  const asked = useEffectEvent(() => {
    void navigate({ to: pathname, search: true, hash: '', replace: true });
    act();
  });
  useEffect(() => {
    if (hash === name) asked();
  }, [hash, name]);
}
