import { relative } from 'node:path';
import type { Plugin } from 'vite';

/** Module ids may end with a query, and those of modules that no file has start with a NUL. */
const fileOf = (id: string) => (id.startsWith('\0') ? undefined : id.split('?')[0]);

/** Collects the files that chunks and styles are made from, relative to the package; `.modules` lists them for SBOMs. */
export function bundledModules(): { plugin: () => Plugin; paths: () => string[] } {
  const files = new Set<string>();
  const plugin = (): Plugin => ({
    name: 'tollgate-bundled-modules',
    apply: 'build',
    generateBundle(_options, bundle) {
      const inChunks = Object.values(bundle).flatMap((output) =>
        output.type === 'chunk' ? Object.entries(output.modules) : [],
      );
      for (const [id, { renderedLength }] of inChunks) {
        const file = fileOf(id);
        if (file !== undefined && renderedLength > 0) files.add(file);
      }
      // Styles leave nothing in a chunk, and fonts come with them.
      for (const id of this.getModuleIds()) {
        const file = fileOf(id);
        if (file?.endsWith('.css') === true) files.add(file);
      }
    },
  });
  const root = new URL('..', import.meta.url).pathname;
  return { plugin, paths: () => [...files].map((file) => relative(root, file)).sort() };
}
