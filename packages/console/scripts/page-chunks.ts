import type { Plugin } from 'vite';
import { PAGE_MODULES } from '../src/api/paths.ts';

type Bundle = Parameters<Extract<NonNullable<Plugin['writeBundle']>, (...args: never) => unknown>>[1];

type Chunk = Extract<Bundle[string], { type: 'chunk' }>;

/**
 * The scripts that a page loads before it is usable: `first` on every page, and by its module those that it loads
 * besides. @throws {Error} if a module of PAGE_MODULES has no chunk of its own.
 */
export function pageChunks(bundle: Bundle): { first: Chunk[]; ofPages: Map<string, Chunk[]> } {
  const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
  const byFile = new Map(chunks.map((chunk) => [chunk.fileName, chunk]));
  const withImports = (chunk: Chunk, found = new Set<Chunk>()): Set<Chunk> => {
    if (found.has(chunk)) return found;
    found.add(chunk);
    for (const next of chunk.imports.flatMap((file) => byFile.get(file) ?? [])) withImports(next, found);
    return found;
  };
  const entry = chunks.find(({ isEntry }) => isEntry);
  if (entry === undefined) throw new Error('The build has no entry.');
  const first = withImports(entry);
  const ofPages = new Map<string, Chunk[]>();
  for (const module of Object.values(PAGE_MODULES)) {
    if (ofPages.has(module)) continue;
    const page = chunks.find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/src/pages/${module}`));
    if (page === undefined) throw new Error(`No chunk has the page ${module}.`);
    ofPages.set(
      module,
      [...withImports(page)].filter((chunk) => !first.has(chunk)),
    );
  }
  return { first: [...first], ofPages };
}
