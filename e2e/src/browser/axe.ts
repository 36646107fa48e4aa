import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** The script, for a page's debugger: the page's policy allows no inline script. */
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** A page of either browser's driver. */
type ScriptedPage = { evaluate: (script: string) => Promise<unknown> };

/** What a screen reader's user would stumble over (WCAG 2.2 AA), as `rule: element (why)`. */
export async function accessibilityFaults(page: ScriptedPage): Promise<string[]> {
  // Once for a page, which is looked at in several states, sizes and themes.
  if ((await page.evaluate("'axe' in globalThis")) !== true) await page.evaluate(AXE);
  return (await page.evaluate(`(${axeFaults.toString()})()`)) as string[];
}

/** Runs in a page that has {@link AXE}. */
async function axeFaults(): Promise<string[]> {
  type Axe = {
    run: (
      options: object,
    ) => Promise<{ violations: { id: string; nodes: { html: string; any: { message: string }[] }[] }[] }>;
  };
  const { axe } = globalThis as unknown as { axe: Axe };
  const { violations } = await axe.run({
    // Selectors of all that is right take a good part of a run.
    resultTypes: ['violations'],
    runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
  });
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, any }) => `${id}: ${html} (${any.map(({ message }) => message).join(' ')})`),
  );
}
