import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import styles from '../ui/page/page.module.css';

type SessionReplacedProps = {
  /** Who is signed in. */
  email: string;
  /** Whose page this is; null where that is the same account. */
  former: string | null;
};

/** Another window has signed in to another account: says who, before anything is done in that name. */
export function SessionReplaced({ email, former }: SessionReplacedProps) {
  return (
    <Dialog
      title="You signed in with another account"
      isOpen={former !== null}
      canDismiss={false}
      onClose={() => undefined}
    >
      <p>
        In another window you signed in as <strong>{email}</strong>. This page is that of{' '}
        <strong>{former}</strong>: what you typed here has not been saved.
      </p>
      <div className={styles['actions']}>
        <Button
          variant="primary"
          onPress={() => {
            location.reload();
          }}
        >
          Continue as {email}
        </Button>
      </div>
      <p className={styles['muted']}>To go back to the other account, continue and sign out.</p>
    </Dialog>
  );
}
