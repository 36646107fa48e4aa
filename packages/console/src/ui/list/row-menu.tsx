import { Suspense } from 'react';
import { lazyPart } from '../part/lazy-part.ts';
import type { RowMenuProps } from './actions-menu.tsx';
import { MenuButton } from './menu-button.tsx';

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
