import { expect, test } from '@jest/globals';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'yaml';
import { CHART, describeWithHelm, helm, render, renderChart } from './render.ts';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

test('the chart and the images that it names have the version of the services', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string };
  expect(parse(read('k8s/tollgate/Chart.yaml'))).toMatchObject({ version, appVersion: version });
});

describeWithHelm('a new version of the chart', () => {
  test('replaces the pods of the services, and leaves those of Postgres and Redis alone', () => {
    const directory = mkdtempSync(join(tmpdir(), 'tollgate-chart-'));
    try {
      const version = '99.0.0';
      helm('package', CHART, '--version', version, '--app-version', version, '--destination', directory);
      const next = renderChart(join(directory, `tollgate-${version}.tgz`), 'demo');
      const changed = render('demo').filter(({ kind, metadata, spec }) => {
        const same = next.find((each) => each.kind === kind && each.metadata.name === metadata.name);
        return (
          spec?.template !== undefined &&
          JSON.stringify(same?.spec?.template) !== JSON.stringify(spec.template)
        );
      });
      const names = changed.filter(({ kind }) => kind !== 'Job').map(({ metadata }) => metadata.name);
      expect(names.toSorted()).toEqual(
        ['account', 'auth', 'gateway', 'upstream'].map((component) => `tollgate-${component}`),
      );
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
