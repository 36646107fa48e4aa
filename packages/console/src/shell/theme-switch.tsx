import { useSyncExternalStore } from 'react';
import { Button } from '../ui/button.tsx';

/** `scripts/stored-theme.js` reads it, before the first paint. */
const STORAGE_KEY = 'tollgate-theme';

/** The search switches it too. */
const SWITCHED = 'tollgate-theme-switched';

function currentTheme(): 'light' | 'dark' {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Switches to the other theme, and keeps it in this browser. */
export function switchTheme(): void {
  const other = currentTheme() === 'dark' ? 'light' : 'dark';
  document.documentElement.dataset['theme'] = other;
  localStorage.setItem(STORAGE_KEY, other);
  dispatchEvent(new Event(SWITCHED));
}

function onSwitch(listener: () => void): () => void {
  addEventListener(SWITCHED, listener);
  return () => {
    removeEventListener(SWITCHED, listener);
  };
}

export function ThemeSwitch() {
  const theme = useSyncExternalStore(onSwitch, currentTheme);
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <Button isReading variant="quiet" onPress={switchTheme}>
      {other === 'dark' ? 'Dark theme' : 'Light theme'}
    </Button>
  );
}
