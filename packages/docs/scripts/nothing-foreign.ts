import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Elements that load what they name; a link to a page of its own, such as `canonical`, loads nothing. */
const LOADED = [
  /<(?:script|img|iframe|source|video|audio|object|embed)\b[^>]*\s(?:src|srcset|data)="((?:https?:)?\/\/[^"]*)"/g,
  /<link\b(?![^>]*\srel="(?:canonical|alternate)")[^>]*\shref="((?:https?:)?\/\/[^"]*)"/g,
];
const IN_STYLES = [/url\(\s*["']?((?:https?:)?\/\/[^"')]*)/g, /@import\s+["']((?:https?:)?\/\/[^"']*)/g];
const IN_SCRIPTS = [/\b(?:import|from|fetch|importScripts)[\s(]*["'`]((?:https?:)?\/\/[^"'`]*)/g];

/** @throws {Error} if a page, style or script of the build loads something from another server */
export function nothingForeign(directory: string): void {
  const foreign = globSync('**/*.{html,css,js}', { cwd: directory }).flatMap((name) => {
    const text = readFileSync(join(directory, name), 'utf8');
    const patterns = name.endsWith('.css')
      ? IN_STYLES
      : name.endsWith('.js')
        ? IN_SCRIPTS
        : [...LOADED, ...IN_STYLES];
    return patterns.flatMap((pattern) =>
      [...text.matchAll(pattern)].map(([, address = '']) => `${name}: ${address}`),
    );
  });
  if (foreign.length > 0) throw new Error(`The book loads from other servers:\n${foreign.join('\n')}`);
}
