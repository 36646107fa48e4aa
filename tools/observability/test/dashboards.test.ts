import { expect, test } from '@jest/globals';
import { queriesOf, readDashboards } from '../src/dashboards.ts';
import { dashboardFiles } from '../src/grafana/dashboard-files.ts';
import { usedMetrics } from '../src/used-metrics.ts';

const UNITS = ['s', 'short', 'reqps', 'ops', 'bytes', 'Bps', 'percentunit'];

const dashboards = readDashboards();
const panels = dashboards.flatMap(({ file, panels: all }) =>
  all.filter(({ type }) => type !== 'row').map((panel) => ({ file, ...panel })),
);

test('the files are what tools/observability/src/grafana/write-dashboards.ts writes', () => {
  const files = Object.entries(dashboardFiles()).map(([file, json]) => ({
    file,
    ...(JSON.parse(json) as object),
  }));
  expect(dashboards).toEqual(files.toSorted((one, other) => one.file.localeCompare(other.file)));
});

test('each dashboard has an id of its own, and takes the data source from a variable', () => {
  expect(new Set(dashboards.map(({ uid }) => uid)).size).toBe(dashboards.length);
  for (const { templating, panels: all } of dashboards) {
    expect(templating.list).toMatchObject([{ name: 'datasource', type: 'datasource', query: 'prometheus' }]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const sources = new Set(
      all.flatMap(({ targets = [] }) => targets.map(({ datasource }) => datasource?.uid)),
    );
    expect([...sources]).toEqual(['${datasource}']);
  }
});

test.each(panels.map((panel) => [`${panel.file}: ${panel.title}`, panel] as const))(
  '%s has a description, a unit and readable queries',
  (_name, panel) => {
    expect(panel.description?.length).toBeGreaterThan(5);
    expect(UNITS).toContain(panel.fieldConfig?.defaults.unit);
    const queries = queriesOf(panel);
    expect(queries.length).toBeGreaterThan(0);
    for (const query of queries) expect(usedMetrics(query).metrics.length).toBeGreaterThan(0);
    for (const { legendFormat = '' } of panel.targets ?? []) expect(legendFormat).not.toBe('');
  },
);
