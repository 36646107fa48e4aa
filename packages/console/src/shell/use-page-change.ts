import { useLocation, useRouter } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';

/** A link, and signing in, moves the focus to the new page, as a page load would, and closes the menu of a narrow window. */
export function usePageChange() {
  const content = useRef<HTMLElement>(null);
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { pathname } = useLocation();
  const { state } = useRouter();
  const shown = useRef(state.resolvedLocation?.pathname ?? pathname);
  useEffect(() => {
    if (shown.current === pathname) return;
    shown.current = pathname;
    setMenuOpen(false);
    content.current?.focus();
  }, [pathname]);
  return { content, isMenuOpen, setMenuOpen };
}
