import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The script, for a page's debugger: the page's policy allows no inline script. */
export const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Runs in a page that has {@link AXE}: what a screen reader's user would stumble over (WCAG 2.2 AA), as `rule: element`. */
export async function axeFaults(): Promise<string[]> {
  type Axe = {
    run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
  };
  const { axe } = globalThis as unknown as { axe: Axe };
  const { violations } = await axe.run({
    // Selectors of all that is right take a good part of a run.
    resultTypes: ['violations'],
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}
