import '@fontsource-variable/inter';
import '@fontsource-variable/jetbrains-mono';
import '../styles/tokens.css';
import '../styles/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { I18nProvider } from 'react-aria-components';
import { createRoot } from 'react-dom/client';
import { queryClient } from '../query-client.ts';
import { LOCALE, applyStoredZone } from '../ui/locale.ts';
import { takeLinkFromAddress } from './api/session.ts';
import { OperatorConsole } from './operator-console.tsx';

applyStoredZone();

const root = document.getElementById('root');
if (root === null) throw new Error('The page has no root element.');
createRoot(root).render(
  <StrictMode>
    <I18nProvider locale={LOCALE}>
      <QueryClientProvider client={queryClient}>
        <OperatorConsole link={takeLinkFromAddress()} />
      </QueryClientProvider>
    </I18nProvider>
  </StrictMode>,
);
