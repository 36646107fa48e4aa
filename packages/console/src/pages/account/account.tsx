import { Suspense, lazy } from 'react';
import { PageHeader } from '../../ui/page/page-header.tsx';
import { Skeleton } from '../../ui/page/states.tsx';
import { EmailAddress } from './email-address.tsx';
import { Password } from './password.tsx';
import { Profile } from './profile.tsx';
import { Sessions } from './sessions.tsx';

const TwoFactor = lazy(async () => ({
  default: (await import('./two-factor/two-factor.tsx')).TwoFactor,
}));

const Activity = lazy(async () => ({ default: (await import('./activity/activity.tsx')).Activity }));

const DeleteAccount = lazy(async () => ({
  default: (await import('./deletion/delete-account.tsx')).DeleteAccount,
}));

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
        <DeleteAccount />
      </Suspense>
    </>
  );
}
