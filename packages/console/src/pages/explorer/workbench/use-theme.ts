import { useSyncExternalStore } from 'react';
import type { Theme } from '../monaco/theme.ts';

const SYSTEM_DARK = matchMedia('(prefers-color-scheme: dark)');

/** The theme that the page shows now: the chosen one, else the system's. */
export function useTheme(): Theme {
  return useSyncExternalStore(subscribe, current);
}

function subscribe(onChange: () => void): () => void {
  const observer = new MutationObserver(onChange);
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  SYSTEM_DARK.addEventListener('change', onChange);
  return () => {
    observer.disconnect();
    SYSTEM_DARK.removeEventListener('change', onChange);
  };
}

function current(): Theme {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return SYSTEM_DARK.matches ? 'dark' : 'light';
}
