import { useState } from 'react';
import { Button } from '../ui/button.tsx';

const STORAGE_KEY = 'tollgate-theme';

function currentTheme(): 'light' | 'dark' {
  const { theme } = document.documentElement.dataset;
  if (theme === 'light' || theme === 'dark') return theme;
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

/** Applies the theme that was chosen in this browser, if any; else the system's holds. */
export function applyStoredTheme(): void {
  const stored = localStorage.getItem(STORAGE_KEY);
  if (stored === 'light' || stored === 'dark') document.documentElement.dataset['theme'] = stored;
}

export function ThemeSwitch() {
  const [theme, setTheme] = useState(currentTheme);
  const other = theme === 'dark' ? 'light' : 'dark';
  return (
    <Button
      variant="quiet"
      onPress={() => {
        document.documentElement.dataset['theme'] = other;
        localStorage.setItem(STORAGE_KEY, other);
        setTheme(other);
      }}
    >
      {other === 'dark' ? 'Dark theme' : 'Light theme'}
    </Button>
  );
}
