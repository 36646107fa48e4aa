import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { bundledModules } from './scripts/bundled-modules.ts';
import { compressed } from './scripts/compressed.ts';
import { storedTheme } from './scripts/stored-theme.ts';

const modules = bundledModules();

/** The operators' console: a bundle of its own, which account serves under /operator on its private listener only. */
export default defineConfig({
  base: '/operator/',
  plugins: [react(), storedTheme(), modules.plugin(), compressed({ modules: modules.paths })],
  build: {
    outDir: 'dist/operator',
    assetsInlineLimit: 0,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // The pages of customers, as operators view them, are here too: the private listener serves no others.
    rolldownOptions: { input: ['operator.html', 'operator-view.html'] },
  },
});
