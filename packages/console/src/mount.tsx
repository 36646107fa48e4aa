import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import './styles/tokens.css';
import './styles/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import type { ReactNode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { queryClient } from './query-client.ts';
import { LOCALE, applyStoredZone } from './ui/locale.ts';

/** Shows a console in its page, with what both of them are built on. */
export function mount(content: ReactNode): void {
  applyStoredZone();
  const root = document.getElementById('root');
  if (root === null) throw new Error('The page has no root element.');
  createRoot(root).render(
    <StrictMode>
      <I18nProvider locale={LOCALE}>
        <QueryClientProvider client={queryClient}>{content}</QueryClientProvider>
      </I18nProvider>
    </StrictMode>,
  );
}
