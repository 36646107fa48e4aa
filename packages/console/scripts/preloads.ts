import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { PAGE_MODULES } from '../src/api/paths.ts';
import { pageChunks } from './page-chunks.ts';

/**
 * Writes preloads.json: for each page's address the links that let a browser load the page's own files beside the
 * first script, which would ask for them only once it has run. account puts them into the head.
 */
export function preloads(): Plugin {
  return {
    name: 'tollgate-preloads',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      const { ofPages } = pageChunks(bundle);
      const links = Object.entries(PAGE_MODULES).map(([path, module]) => {
        const own = ofPages.get(module) ?? [];
        const styles = new Set(own.flatMap(({ viteMetadata }) => [...(viteMetadata?.importedCss ?? [])]));
        return [
          path,
          [
            ...own.map(({ fileName }) => `<link rel="modulepreload" crossorigin href="/user/${fileName}">`),
            ...[...styles].map((file) => `<link rel="preload" as="style" crossorigin href="/user/${file}">`),
          ].join(''),
        ];
      });
      writeFileSync(join(dir, 'preloads.json'), JSON.stringify(Object.fromEntries(links)));
    },
  };
}
