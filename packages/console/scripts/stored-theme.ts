import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'vite';

/** Puts `stored-theme.js` into the page's head: as a file of its own in a build, whose policy allows nothing inline. */
export function storedTheme(): Plugin {
  const source = readFileSync(join(import.meta.dirname, 'stored-theme.js'), 'utf8');
  const hash = createHash('sha256').update(source).digest('base64url').slice(0, 8);
  const fileName = `assets/stored-theme-${hash}.js`;
  let isBuild = false;
  let base = '/';
  return {
    name: 'tollgate-stored-theme',
    configResolved(config) {
      isBuild = config.command === 'build';
      ({ base } = config);
    },
    buildStart() {
      if (isBuild) this.emitFile({ type: 'asset', fileName, source });
    },
    transformIndexHtml: () => [
      isBuild
        ? { tag: 'script', attrs: { src: `${base}${fileName}` }, injectTo: 'head' }
        : { tag: 'script', children: source, injectTo: 'head' },
    ],
  };
}
