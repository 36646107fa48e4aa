import { useEffect } from 'react';
import type { ReactNode } from 'react';
import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import styles from './dialog.module.css';

type DialogProps = {
  title: ReactNode;
  isOpen: boolean;
  onClose: () => void;
  /** Whether Escape closes it; not where that would lose something for good. */
  canDismiss?: boolean;
  children: ReactNode;
};

/** Of a dialog that something else opens. */
export type DialogState = { isOpen: boolean; onClose: () => void };

const IN_FRONT = '[role="dialog"], [role="menu"]';

let lastOnPage: HTMLElement | null = null;
document.addEventListener('focusin', ({ target }) => {
  if (target instanceof HTMLElement && target.closest(IN_FRONT) === null) lastOnPage = target;
});

/** A dialog that a menu or another dialog opened has nothing to give the focus back to: that is gone. */
function useFocusReturn(isOpen: boolean): void {
  useEffect(() => {
    if (!isOpen) return undefined;
    return () => {
      requestAnimationFrame(() => {
        const isLost = document.activeElement === document.body && document.querySelector(IN_FRONT) === null;
        if (isLost) lastOnPage?.focus();
      });
    };
  }, [isOpen]);
}

/** A modal dialog that keeps the focus within it and gives it back. */
export function Dialog({ title, isOpen, onClose, canDismiss = true, children }: DialogProps) {
  useFocusReturn(isOpen);
  return (
    <ModalOverlay
      isOpen={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      isKeyboardDismissDisabled={!canDismiss}
      className={styles['overlay'] ?? ''}
    >
      <Modal className={styles['modal'] ?? ''}>
        <AriaDialog className={styles['dialog'] ?? ''}>
          <Heading slot="title" level={2}>
            {title}
          </Heading>
          {children}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
