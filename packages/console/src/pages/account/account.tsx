import { Link } from '@tanstack/react-router';
import { Suspense } from 'react';
import type { ReactNode } from 'react';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Skeleton } from '../../ui/page/states.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';
import styles from './account.module.css';
import { ACCOUNT_PAGES } from './account-pages.ts';
import { EmailAddress } from './email-address.tsx';
import { Password } from './password.tsx';
import { OperatorViews } from './operator-views.tsx';
import { Profile } from './profile.tsx';
import { Sessions } from './sessions.tsx';

const TwoFactor = lazyPart(async () => (await import('./two-factor/two-factor.tsx')).TwoFactor);

const Activity = lazyPart(async () => (await import('./activity/activity.tsx')).Activity);

const ExportData = lazyPart(async () => (await import('./export-data.tsx')).ExportData);

const DeleteAccount = lazyPart(async () => (await import('./deletion/delete-account.tsx')).DeleteAccount);

/** `/user/account` */
export function ProfilePage() {
  return (
    <AccountPage title="Profile">
      <Profile />
      <EmailAddress />
    </AccountPage>
  );
}

/** `/user/account/security` */
export function SecurityPage() {
  return (
    <AccountPage title="Security">
      <Password />
      <Suspense fallback={<Skeleton rows={6} />}>
        <TwoFactor />
      </Suspense>
      <Sessions />
      <OperatorViews />
    </AccountPage>
  );
}

/** `/user/account/activity` */
export function ActivityPage() {
  return (
    <AccountPage title="Activity">
      <Suspense fallback={<Skeleton rows={6} />}>
        <Activity />
      </Suspense>
    </AccountPage>
  );
}

/** `/user/account/data` */
export function DataPage() {
  return (
    <AccountPage title="Data">
      <Suspense fallback={<Skeleton rows={6} />}>
        <ExportData />
        <DeleteAccount />
      </Suspense>
    </AccountPage>
  );
}

function AccountPage({ title, children }: { title: string; children: ReactNode }) {
  return (
    <>
      <PageHeader title={title} />
      <nav aria-label="Account" className={styles['parts']}>
        {ACCOUNT_PAGES.map(({ to, label }) => (
          <Link key={to} to={to} activeOptions={{ exact: true }} className={styles['part'] ?? ''}>
            {label}
          </Link>
        ))}
      </nav>
      {children}
    </>
  );
}
