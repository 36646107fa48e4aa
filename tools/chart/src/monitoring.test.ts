import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import type { Manifest } from './manifests.ts';
import { CHART, describeWithHelm, helm, render, renderChart } from './render.ts';

const RUNBOOK = 'https://git.example.com/tollgate/docs/runbook.md';
const ALL = [
  '--set=monitoring.prometheusRule.enabled=true,monitoring.dashboards.enabled=true',
  `--set=monitoring.runbookUrl=${RUNBOOK}`,
];

const filesOf = (directory: string) =>
  readdirSync(`${CHART}/${directory}`).map((file) => `${CHART}/${directory}/${file}`);

const namesOf = (manifests: readonly Manifest[], kind: string) =>
  manifests.filter((manifest) => manifest.kind === kind).map(({ metadata }) => metadata.name);

describeWithHelm('a packaged chart, which is what a registry serves,', () => {
  let directory: string;
  let manifests: Manifest[];

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'tollgate-chart-'));
    const { status, stderr } = helm('package', CHART, `--destination=${directory}`);
    expect([status, stderr]).toEqual([0, '']);
    const archive = join(directory, readdirSync(directory)[0] ?? '');
    manifests = renderChart(archive, 'demo', ...ALL);
  });

  afterAll(() => {
    rmSync(directory, { recursive: true });
  });

  test('has a PrometheusRule for each file of alerts, whole, and no other', () => {
    const files = filesOf('alerts');
    expect(files.length).toBeGreaterThan(2);
    expect(namesOf(manifests, 'PrometheusRule').toSorted()).toEqual(
      files.map((file) => `tollgate-alerts-${basename(file, '.yaml')}`).toSorted(),
    );
    for (const file of files) {
      const rule = manifests.find(
        ({ metadata }) => metadata.name === `tollgate-alerts-${basename(file, '.yaml')}`,
      );
      const source = readFileSync(file, 'utf8').replaceAll('docs/runbook.md', RUNBOOK);
      expect(rule?.spec).toEqual(parse(source));
    }
  });

  test('has a ConfigMap for each dashboard, whole, with the label that the sidecar looks for', () => {
    const files = filesOf('dashboards');
    expect(files.length).toBeGreaterThan(4);
    const maps = manifests.filter(({ metadata }) => metadata.labels?.['grafana_dashboard'] === '1');
    expect(maps.map(({ data = {} }) => Object.keys(data)).toSorted()).toEqual(
      files.map((file) => [basename(file)]).toSorted(),
    );
    for (const file of files) {
      const map = maps.find(({ data }) => data?.[basename(file)] !== undefined);
      expect(map?.data?.[basename(file)]).toBe(readFileSync(file, 'utf8').trimEnd());
    }
  });
});

describeWithHelm('monitors that are made where their API exists', () => {
  const monitorsOf = (...args: string[]) =>
    render('production', ...args)
      .map(({ kind }) => kind)
      .filter((kind) => kind === 'ServiceMonitor' || kind === 'PrometheusRule');

  test('are left out by the production values without it, so that the chart can be installed', () => {
    expect(monitorsOf()).toEqual([]);
  });

  test('are made with it, and where they are asked for', () => {
    const apis = ['ServiceMonitor', 'PrometheusRule'].map(
      (kind) => `--api-versions=monitoring.coreos.com/v1/${kind}`,
    );
    expect(new Set(monitorsOf(...apis))).toEqual(new Set(['ServiceMonitor', 'PrometheusRule']));
    expect(new Set(monitorsOf('--set=monitoring.serviceMonitor.enabled=true'))).toEqual(
      new Set(['ServiceMonitor']),
    );
  });
});

describeWithHelm('runbook_url', () => {
  const linksOf = (...args: string[]) =>
    render('demo', '--set=monitoring.prometheusRule.enabled=true', ...args)
      .flatMap(({ spec }) => spec?.groups ?? [])
      .flatMap(({ rules }) => rules)
      .flatMap(({ annotations }) => annotations?.['runbook_url'] ?? []);

  test.each([
    ['the path in the repository by default', [], 'docs/runbook.md#tollgate'],
    ['on the page of a value', [`--set=monitoring.runbookUrl=${RUNBOOK}`], `${RUNBOOK}#tollgate`],
  ])('is %s', (_name, args, start) => {
    const links = linksOf(...args);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !link.startsWith(start))).toEqual([]);
  });
});
