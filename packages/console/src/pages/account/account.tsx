import { PageHeader } from '../../ui/page/page-header.tsx';
import { Activity } from './activity/activity.tsx';
import { DeleteAccount } from './deletion/delete-account.tsx';

/** `/user/account`: a list of sections, each in a file of its own. */
export function AccountPage() {
  return (
    <>
      <PageHeader title="Account" />
      <Activity />
      <DeleteAccount />
    </>
  );
}
