import { PageHeader } from '../../ui/page/page-header.tsx';
import { Activity } from './activity/activity.tsx';
import { DeleteAccount } from './deletion/delete-account.tsx';
import { EmailAddress } from './email-address.tsx';
import { Password } from './password.tsx';
import { Profile } from './profile.tsx';
import { Sessions } from './sessions.tsx';
import { TwoFactor } from './two-factor/two-factor.tsx';

/** `/user/account`: a list of sections, each in a file of its own. */
export function AccountPage() {
  return (
    <>
      <PageHeader title="Account" />
      <Profile />
      <EmailAddress />
      <Password />
      <TwoFactor />
      <Sessions />
      <Activity />
      <DeleteAccount />
    </>
  );
}
