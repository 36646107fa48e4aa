import { useSyncExternalStore } from 'react';
import type { ComponentProps, ReactNode } from 'react';

/**
 * The address of the operators' console. Its few pages need no router: TanStack Router types its links by the one router
 * of a program, which is the customers' console's.
 */
const BASE = '/operator';

const CHANGED = 'tollgate-operator-location';

function subscribe(listener: () => void): () => void {
  addEventListener('popstate', listener);
  addEventListener(CHANGED, listener);
  return () => {
    removeEventListener('popstate', listener);
    removeEventListener(CHANGED, listener);
  };
}

/** Path and query below /operator, as `/accounts/7?period=3`. */
export function useAddress(): string {
  return useSyncExternalStore(subscribe, () => {
    const path = location.pathname.slice(BASE.length);
    return `${path === '' ? '/' : path}${location.search}`;
  });
}

/** @param to path and query below /operator */
export function navigate(to: string): void {
  history.pushState(null, '', `${BASE}${to}`);
  dispatchEvent(new Event(CHANGED));
  scrollTo(0, 0);
}

type LinkProps = Omit<ComponentProps<'a'>, 'href'> & { to: string };

/** A link within the console; a click with a modifier key is the browser's. */
export function OperatorLink({ to, ...props }: LinkProps) {
  return (
    <a
      {...props}
      href={`${BASE}${to}`}
      onClick={(event) => {
        if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        navigate(to);
      }}
    />
  );
}

/** To a customer's page. Without `children` it says which account. */
export function AccountLink({ accountId, children }: { accountId: number; children?: ReactNode }) {
  return (
    <OperatorLink to={`/accounts/${String(accountId)}`}>
      {children ?? `Account ${String(accountId)}`}
    </OperatorLink>
  );
}
