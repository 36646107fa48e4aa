import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';
import { PAGE_MODULES } from '../src/api/paths.ts';

type Bundle = Parameters<Extract<NonNullable<Plugin['writeBundle']>, (...args: never) => unknown>>[1];

/**
 * Writes preloads.json: for each page's address the links that let a browser load the page's own files beside the
 * first script, which would ask for them only once it has run. account puts them into the head.
 */
export function preloads(): Plugin {
  return {
    name: 'tollgate-preloads',
    apply: 'build',
    writeBundle({ dir = '' }, bundle) {
      const links = Object.entries(PAGE_MODULES).map(([path, module]) => [path, linksOf(bundle, module)]);
      writeFileSync(join(dir, 'preloads.json'), JSON.stringify(Object.fromEntries(links)));
    },
  };
}

function linksOf(bundle: Bundle, module: string): string {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const named = (fileName: string) => chunks.find((chunk) => chunk.fileName === fileName);
  const withImports = (file: string, found = new Set<string>()): Set<string> => {
    if (found.has(file)) return found;
    found.add(file);
    for (const next of named(file)?.imports ?? []) withImports(next, found);
    return found;
  };
  const entry = chunks.find(({ isEntry }) => isEntry);
  const page = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/src/pages/${module}`));
  if (entry === undefined || page === undefined) throw new Error(`No page has the module ${module}.`);
  const first = withImports(entry.fileName);
  const own = [...withImports(page.fileName)].filter((file) => !first.has(file));
  const styles = new Set(own.flatMap((file) => [...(named(file)?.viteMetadata?.importedCss ?? [])]));
  return [
    ...own.map((file) => `<link rel="modulepreload" crossorigin href="/user/${file}">`),
    ...[...styles].map((file) => `<link rel="preload" as="style" crossorigin href="/user/${file}">`),
  ].join('');
}
