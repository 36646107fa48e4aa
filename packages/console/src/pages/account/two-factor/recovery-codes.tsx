import { useState } from 'react';
import { api, resultOf } from '../../../api/client.ts';
import { Button } from '../../../ui/button.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import pageStyles from '../../../ui/page/page.module.css';
import { Badge, ErrorMessage } from '../../../ui/page/states.tsx';
import { useHiddenAfterAbsence } from '../../../ui/secret/use-hidden-after-absence.ts';
import { Factor, useFactorAction } from './factor.tsx';
import type { FactorProps } from './factor.tsx';
import { saveFile } from '../../../ui/save-file.ts';
import styles from './two-factor.module.css';

const FEW = 3;

/** How many codes are left, and new ones. */
export function RecoveryCodes({ left, onChanged }: { left: number } & Pick<FactorProps, 'onChanged'>) {
  const [isOpen, setOpen] = useState(false);
  const renewal = useFactorAction(
    () => resultOf(api.POST('/api/console/two-factor/recovery-codes')),
    ({ recovery_codes }) => {
      setOpen(false);
      onChanged(recovery_codes);
    },
  );
  const close = () => {
    setOpen(false);
  };
  const action = (
    <Button
      onPress={() => {
        setOpen(true);
      }}
    >
      Generate new codes
    </Button>
  );
  return (
    <Factor title="Recovery codes" action={action}>
      <p className={pageStyles['muted']}>
        Each signs you in once, if you lose your other factors. {left} of 10 are unused.{' '}
        {left <= FEW && <Badge tone="warning">Few left</Badge>}
      </p>
      <Dialog title="Generate new recovery codes?" isOpen={isOpen} onClose={close}>
        <p>Your current codes stop working at once, also where you have saved or printed them.</p>
        {renewal.error !== null && <ErrorMessage error={renewal.error} />}
        <div className={pageStyles['actions']}>
          <Button
            variant="primary"
            isPending={renewal.isPending}
            onPress={() => {
              renewal.run();
            }}
          >
            Generate
          </Button>
          <Button onPress={close}>Cancel</Button>
        </div>
      </Dialog>
    </Factor>
  );
}

/** The codes, shown once, and not closed by mistake before they are saved. */
export function ShownCodes({ codes, onClose }: { codes: readonly string[]; onClose: () => void }) {
  const [isSaved, setSaved] = useState(false);
  const [isWarned, setWarned] = useState(false);
  const isHidden = useHiddenAfterAbsence();
  const text = `${codes.join('\n')}\n`;
  const markSaved = () => {
    setSaved(true);
  };
  function close() {
    if (isSaved || isWarned) onClose();
    else setWarned(true);
  }
  return (
    <Dialog title="Save your recovery codes" isOpen onClose={close} canDismiss={isSaved}>
      <p>
        Each code signs you in once, if you lose your other factors. <strong>They are shown only now.</strong>{' '}
        Keep them where you keep your passwords.
      </p>
      <ul className={styles['codes']} aria-label="Recovery codes">
        {codes.map((code) => (
          <li key={code}>
            <code>{isHidden ? '•'.repeat(code.length) : code}</code>
          </li>
        ))}
      </ul>
      {isWarned && !isSaved && (
        <p role="alert">You have not saved the codes. Select Done again to close without them.</p>
      )}
      <div className={pageStyles['actions']}>
        <Button variant="primary" onPress={close}>
          Done
        </Button>
        <CopyButton what="recovery codes" text={text} onCopied={markSaved} />
        <Button
          onPress={() => {
            saveFile('tollgate-recovery-codes.txt', new Blob([text], { type: 'text/plain' }));
            markSaved();
          }}
        >
          Download
        </Button>
      </div>
    </Dialog>
  );
}
