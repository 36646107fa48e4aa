import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export type DocumentedMetric = {
  name: string;
  type: string;
  labels: Set<string>;
  services: readonly string[];
};

export const REPOSITORY = resolve(import.meta.dirname, '../../..');

const SERVICES = ['gateway', 'auth', 'account'];

/** The rows of docs/metrics.md: a chapter named after a service lists what only that service has. */
export function readDocumented(): DocumentedMetric[] {
  const found: DocumentedMetric[] = [];
  let services: readonly string[] = SERVICES;
  for (const line of readFileSync(`${REPOSITORY}/docs/metrics.md`, 'utf8').split('\n')) {
    const chapter = /^## (.*)$/.exec(line)?.[1];
    if (chapter !== undefined) services = SERVICES.includes(chapter) ? [chapter] : SERVICES;
    const [, name = '', type = '', labels = ''] = /^\| `(\w+)` *\| (\w+) *\| ([^|]*)\|/.exec(line) ?? [];
    if (name === '') continue;
    const labelNames = [...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label);
    found.push({ name, type, services, labels: new Set(labelNames) });
  }
  return found;
}
