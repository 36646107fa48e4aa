import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe } from '@jest/globals';
import { parseAllDocuments } from 'yaml';
import type { Container, Manifest, PodSpec } from './manifests.ts';

export const CHART = fileURLToPath(new URL('../../../k8s/tollgate', import.meta.url));
export const VALUES_FILES = ['demo', 'production'] as const;

/** The version that manifests are rendered for where no cluster is asked. */
export const KUBERNETES = '--kube-version=1.34';

export type Rendered = { status: number | null; stdout: string; stderr: string };

export function helm(...args: string[]): Rendered {
  const { status, stdout, stderr } = spawnSync('helm', args, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return { status, stdout, stderr };
}

export const hasHelm = helm('version').status === 0;

/** Where Helm isn't installed, what it renders is left out; CI has it. */
export const describeWithHelm = hasHelm ? describe : describe.skip;

type Values = (typeof VALUES_FILES)[number];

/** Runs `helm template` with one of the values files and further arguments. */
export function template(values: Values, ...args: string[]): Rendered {
  return templateOf(CHART, values, args);
}

/** By their arguments: many tests look at the same manifests. */
const rendered = new Map<string, Rendered>();

function templateOf(chart: string, values: Values, args: readonly string[]): Rendered {
  const all = ['template', 'tollgate', chart, KUBERNETES, `--values=${CHART}/values/${values}.yaml`, ...args];
  const key = JSON.stringify(all);
  const known = rendered.get(key) ?? helm(...all);
  rendered.set(key, known);
  return known;
}

/** @throws {Error} with Helm's message if it refuses. */
export function render(values: Values, ...args: string[]): Manifest[] {
  return renderChart(CHART, values, ...args);
}

/** The same of a packaged chart. */
export function renderChart(chart: string, values: Values, ...args: string[]): Manifest[] {
  const { status, stdout, stderr } = templateOf(chart, values, args);
  if (status !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null);
}

export function podSpecs(manifests: readonly Manifest[]): (PodSpec & { component: string })[] {
  return manifests.flatMap(({ spec }) => {
    const template = spec?.template;
    if (template === undefined) return [];
    return [{ ...template.spec, component: template.metadata.labels['app.kubernetes.io/component'] ?? '' }];
  });
}

export function containersOf({ initContainers = [], containers }: PodSpec): Container[] {
  return [...initContainers, ...containers];
}
