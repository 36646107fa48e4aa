import { Suspense } from 'react';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Skeleton } from '../../ui/page/states.tsx';
import { EmailAddress } from './email-address.tsx';
import { Password } from './password.tsx';
import { Profile } from './profile.tsx';
import { Sessions } from './sessions.tsx';
import { lazyPart } from '../../ui/part/lazy-part.ts';

const TwoFactor = lazyPart(async () => (await import('./two-factor/two-factor.tsx')).TwoFactor);

const Activity = lazyPart(async () => (await import('./activity/activity.tsx')).Activity);

const ExportData = lazyPart(async () => (await import('./export-data.tsx')).ExportData);

const DeleteAccount = lazyPart(async () => (await import('./deletion/delete-account.tsx')).DeleteAccount);

/** `/user/account`: a list of sections, each in a file of its own. */
export function AccountPage() {
  return (
    <>
      <PageHeader title="Account" />
      <Profile />
      <EmailAddress />
      <Password />
      <Suspense fallback={<Skeleton rows={6} />}>
        <TwoFactor />
      </Suspense>
      <Sessions />
      <Suspense fallback={<Skeleton rows={6} />}>
        <Activity />
        <ExportData />
        <DeleteAccount />
      </Suspense>
    </>
  );
}
