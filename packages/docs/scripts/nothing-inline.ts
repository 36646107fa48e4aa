import { createHash } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const SCRIPT = /<script([^>]*)>([^]*?)<\/script>/g;
const TAG = /<[a-z][\w-]*(?:\s+[\w:@.-]+(?:="[^"]*")?)*\s*\/?>/gi;
const STYLE = /\sstyle="([^"]*)"/;
const CLASS = /\sclass="([^"]*)"/;

/**
 * Moves each inline script into a file, and each style attribute into a class of one stylesheet, so that the pages work
 * under a policy that allows nothing inline, and that is the same for all of them.
 *
 * `base`: the path that the directory is served at.
 */
export function nothingInline(directory: string, base: string): void {
  const styles = new Map<string, string>();
  const pages = globSync('**/*.html', { cwd: directory })
    .sort()
    .map((name) => join(directory, name));
  const moved = pages.map((page) =>
    readFileSync(page, 'utf8')
      .replaceAll(SCRIPT, (script, attributes: string, source: string) =>
        source === '' ? script : `<script${attributes} src="${write('js', source)}"></script>`,
      )
      .replaceAll(TAG, withClass),
  );
  const sheet = write('css', [...styles].map(([style, name]) => `.${name}{${style}}\n`).join(''));
  for (const [index, page] of pages.entries())
    writeFileSync(
      page,
      (moved[index] ?? '').replace('</head>', `<link rel="stylesheet" href="${sheet}"></head>`),
    );

  function withClass(tag: string): string {
    const style = STYLE.exec(tag)?.[1];
    if (style === undefined) return tag;
    const name = styles.get(style) ?? `inline-${String(styles.size)}`;
    styles.set(style, name);
    const bare = tag.replace(STYLE, '');
    return CLASS.test(bare)
      ? bare.replace(CLASS, ` class="$1 ${name}"`)
      : bare.replace(/^<[\w-]+/, `$& class="${name}"`);
  }

  function write(extension: string, content: string): string {
    const hash = createHash('sha256').update(content).digest('base64url').slice(0, 8);
    const name = `_astro/inline.${hash}.${extension}`;
    writeFileSync(join(directory, name), content);
    return `${base}/${name}`;
  }
}
