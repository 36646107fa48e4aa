import { resolve } from 'node:path';
import type { Plugin } from 'vite';

const REPLACEMENTS = resolve(import.meta.dirname, '../src/pages/explorer/monaco');

type Change = { file: RegExp; replace: readonly (readonly [string, string])[]; append: string };

const CHANGES: readonly Change[] = [
  {
    file: /\/monaco-editor\/esm\/vs\/base\/browser\/dom\.js$/,
    replace: [['export function createStyleSheet(', 'function createInlineStyleSheet(']],
    append: `
import { adoptedStyle } from '${REPLACEMENTS}/adopted-style.ts';
export function createStyleSheet(container, beforeAppend, disposableStore) {
  const style = adoptedStyle();
  beforeAppend?.(style);
  disposableStore?.add(toDisposable(() => style.remove()));
  return style;
}`,
  },
  {
    file: /\/monaco-editor\/esm\/vs\/editor\/browser\/view\/viewLayer\.js$/,
    replace: [
      [
        'this._domNode.innerHTML = newLinesHTML',
        'this._domNode.replaceChildren(styledFragment(newLinesHTML))',
      ],
      [
        "lastChild.insertAdjacentHTML('afterend', newLinesHTML)",
        'lastChild.after(styledFragment(newLinesHTML))',
      ],
      [
        'hugeDomNode.innerHTML = invalidLinesHTML',
        'hugeDomNode.replaceChildren(styledFragment(invalidLinesHTML))',
      ],
    ],
    append: `
import { styledFragment } from '${REPLACEMENTS}/styled-fragment.ts';`,
  },
];

/**
 * Monaco adds style elements and style attributes as markup, which the page's policy refuses. The built editor
 * sets the same styles through the CSSOM. The build fails if a version of Monaco has moved these places.
 */
export function monacoWithoutInlineStyles(): Plugin {
  const changed = new Set<Change>();
  return {
    name: 'tollgate-monaco-without-inline-styles',
    apply: 'build',
    enforce: 'pre',
    transform(code, id) {
      const change = CHANGES.find(({ file }) => file.test(id));
      if (change === undefined) return null;
      changed.add(change);
      let result = code;
      for (const [former, present] of change.replace) {
        if (result.split(former).length !== 2) throw new Error(`${id} no longer has one: ${former}`);
        result = result.replace(former, present);
      }
      return { code: result + change.append, map: null };
    },
    buildEnd(error) {
      if (error === undefined && changed.size !== CHANGES.length) {
        throw new Error(
          'The editor has moved files that create styles; see monaco-without-inline-styles.ts.',
        );
      }
    },
  };
}
