import { Fragment, useState } from 'react';
import type { ReactNode } from 'react';
import { Menu, MenuItem, MenuTrigger, Popover } from 'react-aria-components';
import type { DialogState } from '../dialog.tsx';
import { MenuButton } from './menu-button.tsx';
import styles from './row-menu.module.css';

type RowAction = {
  label: string;
  isDangerous?: boolean;
  /** The dialog that asks for more, or to confirm. */
  dialog: (state: DialogState) => ReactNode;
};

export type RowMenuProps = { name: string; actions: readonly RowAction[] };

/** A menu, and the dialogs that it opens. */
export function ActionsMenu({ name, actions }: RowMenuProps) {
  const [opened, setOpened] = useState<string | null>(null);
  const close = () => {
    setOpened(null);
  };
  return (
    <>
      <MenuTrigger>
        <MenuButton name={name} />
        <Popover placement="bottom end" className={styles['popover'] ?? ''}>
          <Menu className={styles['menu'] ?? ''}>
            {actions.map(({ label, isDangerous = false }) => (
              <MenuItem
                key={label}
                className={styles['item'] ?? ''}
                data-dangerous={isDangerous || undefined}
                onAction={() => {
                  setOpened(label);
                }}
              >
                {label}
              </MenuItem>
            ))}
          </Menu>
        </Popover>
      </MenuTrigger>
      {actions.map(({ label, dialog }) => (
        <Fragment key={label}>{dialog({ isOpen: opened === label, onClose: close })}</Fragment>
      ))}
    </>
  );
}
