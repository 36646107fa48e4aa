import type { ReactNode } from 'react';
import { PageHeader } from '../ui/page/page-header.tsx';
import type { OperatorSession } from './api/client.ts';
import { SessionsPage } from './pages/sessions.tsx';

/** The navigation. */
export const PAGES = [{ path: '/', label: 'Your sessions' }] as const;

/** The page of an address below /operator. */
export function pageAt(address: string, _session: OperatorSession): ReactNode {
  const { pathname } = new URL(address, location.origin);
  switch (pathname) {
    case '/':
      return <SessionsPage />;
    default:
      return <PageHeader title="This page does not exist" />;
  }
}
