import { Suspense } from 'react';
import type { ReactNode } from 'react';
import { lazyPart } from '../part/lazy-part.ts';
import { MenuButton } from './menu-button.tsx';

/** Of a dialog that a menu opens. */
export type DialogState = { isOpen: boolean; onClose: () => void };

type RowAction = {
  label: string;
  isDangerous?: boolean;
  /** The dialog that asks for more, or to confirm. */
  dialog: (state: DialogState) => ReactNode;
};

export type RowMenuProps = { name: string; actions: readonly RowAction[] };

/** Loaded right after the rows, which can be read without it. */
const ActionsMenu = lazyPart(async () => (await import('./actions-menu.tsx')).ActionsMenu);

/** "…": what can be done with the row of this name. */
export function RowMenu(props: RowMenuProps) {
  return (
    <Suspense fallback={<MenuButton name={props.name} isDisabled />}>
      <ActionsMenu {...props} />
    </Suspense>
  );
}
