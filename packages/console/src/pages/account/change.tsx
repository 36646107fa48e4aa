import { useState } from 'react';
import type { ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';

type ChangeProps = {
  /** What the button opens: "Change password". */
  label: string;
  /** The form, which closes itself when it is done or cancelled. */
  children: (close: () => void) => ReactNode;
};

/** A form behind a button: most visits of the page change nothing. */
export function Change({ label, children }: ChangeProps) {
  const [isOpen, setOpen] = useState(false);
  const [wasOpened, setOpened] = useState(false);
  if (isOpen) {
    return children(() => {
      setOpen(false);
    });
  }
  return (
    <div>
      <Button
        // The focus comes back to what opened the form.
        autoFocus={wasOpened}
        onPress={() => {
          setOpened(true);
          setOpen(true);
        }}
      >
        {label}
      </Button>
    </div>
  );
}
