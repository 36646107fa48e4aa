import { TextField } from '../../ui/form/text-field.tsx';
import { ActOn } from './act-on.tsx';
import { cancelDeletion, changeEmail, resetTwoFactor, setBlocked } from './queries.ts';
import type { AccountSummary } from './queries.ts';

type ActProps = { account: AccountSummary };

const keyOf = ({ account_id }: AccountSummary) => ['account', account_id];

const typedAddress = ({ email }: AccountSummary) => ({ name: email, of: 'account' });

export function Block({ account }: ActProps) {
  const isBlocked = account.blocked_at !== null;
  return (
    <ActOn
      queryKey={keyOf(account)}
      action={isBlocked ? 'Unblock' : 'Block'}
      title={isBlocked ? 'Unblock this account?' : 'Block this account?'}
      {...(isBlocked ? {} : { typed: typedAddress(account) })}
      act={(reason) => setBlocked(account.account_id, !isBlocked, reason)}
    >
      {isBlocked
        ? 'Its calls are accepted again.'
        : 'Its calls, and those of members that it pays for, are refused within a second. Nothing is deleted.'}
    </ActOn>
  );
}

export function ResetTwoFactor({ account }: ActProps) {
  return (
    <ActOn
      queryKey={keyOf(account)}
      action="Reset two-factor"
      title="Reset two-factor authentication?"
      typed={typedAddress(account)}
      needsReason
      isReasonMailed
      act={(reason) => resetTwoFactor(account.account_id, reason)}
    >
      The password is enough to sign in afterwards, and all sessions end. The owner is told by mail. Make sure
      that it is the owner who asks.
    </ActOn>
  );
}

export function ChangeEmail({ account }: ActProps) {
  return (
    <ActOn
      queryKey={keyOf(account)}
      action="Change address"
      title="Change the email address?"
      typed={typedAddress(account)}
      needsReason
      isReasonMailed
      fields={(errors) => (
        <TextField
          label="New email address"
          name="email"
          type="email"
          autoComplete="off"
          error={errors['email']}
        />
      )}
      act={(reason, { email = '' }) => changeEmail(account.account_id, email.trim(), reason)}
    >
      A link goes to the new address, and the account has it once the link is used. All sessions end at once.
      The owner is told at the present address. Make sure that it is the owner who asks.
    </ActOn>
  );
}

export function CancelDeletion({ account }: ActProps) {
  return (
    <ActOn
      queryKey={keyOf(account)}
      action="Cancel deletion"
      title="Cancel the deletion?"
      act={(reason) => cancelDeletion(account.account_id, reason)}
    >
      The account works again. Revoked applications and tokens stay revoked. Make sure that it is the owner
      who asks.
    </ActOn>
  );
}
