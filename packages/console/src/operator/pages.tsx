import type { ReactNode } from 'react';
import { PageHeader } from '../ui/page/page-header.tsx';
import type { OperatorSession } from './api/client.ts';
import { ApplicationsPage } from './pages/applications.tsx';
import { AuditPage } from './pages/audit.tsx';
import { ConfirmationsPage } from './pages/confirmations.tsx';
import { CustomerPage } from './pages/customer.tsx';
import { CustomersPage } from './pages/customers.tsx';
import { HealthPage } from './pages/health.tsx';
import { PlanPage } from './pages/plan.tsx';
import { PlansPage } from './pages/plans.tsx';
import { SessionsPage } from './pages/sessions.tsx';
import { UsagePage } from './pages/usage.tsx';

/** The navigation. */
export const PAGES = [
  { path: '/', label: 'Customers' },
  { path: '/plans', label: 'Plans' },
  { path: '/usage', label: 'Usage' },
  { path: '/applications', label: 'Applications' },
  { path: '/confirmations', label: 'Confirmations' },
  { path: '/audit', label: 'Audit log' },
  { path: '/health', label: 'Health' },
  { path: '/sessions', label: 'Your sessions' },
] as const;

/** The page of an address below /operator. */
export function pageAt(address: string, { role }: OperatorSession): ReactNode {
  const { pathname } = new URL(address, location.origin);
  const accountId = /^\/accounts\/([1-9]\d{0,14})$/.exec(pathname)?.[1];
  if (accountId !== undefined) {
    return <CustomerPage key={accountId} accountId={Number(accountId)} role={role} />;
  }
  const planId = /^\/plans\/([1-9]\d{0,14})$/.exec(pathname)?.[1];
  if (planId !== undefined) return <PlanPage key={planId} planId={Number(planId)} role={role} />;
  switch (pathname) {
    case '/':
      return <CustomersPage />;
    case '/plans':
      return <PlansPage role={role} />;
    case '/usage':
      return <UsagePage role={role} />;
    case '/applications':
      return <ApplicationsPage role={role} />;
    case '/confirmations':
      return <ConfirmationsPage />;
    case '/audit':
      return <AuditPage />;
    case '/health':
      return <HealthPage />;
    case '/sessions':
      return <SessionsPage />;
    default:
      return <PageHeader title="This page does not exist" />;
  }
}
