import { describe, expect, test } from '@jest/globals';
import { queriesOf, readDashboards } from '@tollgate/observability/dashboards';
import { readDocumented } from '@tollgate/observability/documented';
import { readExposition, seriesNames } from '@tollgate/observability/exposition';
import type { ServedMetric } from '@tollgate/observability/exposition';
import { readRules } from '@tollgate/observability/rules';
import { usedMetrics } from '@tollgate/observability/used-metrics';
import { eventually, getUsage, obtainToken, postGraphql, settledUsage } from '../../caller.ts';
import type { Stack } from '../../stack/stack.ts';

const QUERY = '{ country(code: "IS") { name } }';

type Served = { service: string; metrics: Map<string, ServedMetric> };

/** What Prometheus adds to every sample of a target. */
const OF_PROMETHEUS = ['job', 'instance', 'service', 'le'];

/** The stack's connections have no TLS. */
const EMPTY_WITHOUT_TLS = 'Time until certificates expire';

/** What a running stack serves, beside docs/metrics.md, the rules and the dashboards. */
export function observability(stack: () => Stack): void {
  const served = async (): Promise<Served[]> => {
    const { gateway_url, auth_url, account_url } = stack().demo.private;
    const urls = { gateway: gateway_url, auth: auth_url, account: account_url };
    return Promise.all(
      Object.entries(urls).map(async ([service, url]) => {
        const response = await fetch(`${url}/metrics`);
        return { service, metrics: readExposition(await response.text()) };
      }),
    );
  };

  describe('Observability', () => {
    test('docs/metrics.md lists exactly the metrics that the services serve', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
      expect((await postGraphql(demo, 'tg_none', QUERY)).status).toBe(401);
      await settledUsage(demo, token);
      expect((await getUsage(demo.streaming_url, token)).status).toBe(200);
      const documented = readDocumented();
      for (const { service, metrics } of await served()) {
        const rows = documented.filter(({ services }) => services.includes(service));
        const listed = rows.map(({ name, type }) => `${service} ${name} ${type}`);
        expect(listed.toSorted()).toEqual(
          [...metrics].map(([name, { type }]) => `${service} ${name} ${type}`).toSorted(),
        );
        for (const { name, labels } of rows) {
          const sampled = metrics.get(name)?.labels ?? new Set<string>();
          if (sampled.size === 0) continue;
          expect(`${name} ${[...sampled].toSorted().join()}`).toBe(
            `${name} ${[...labels, 'service'].toSorted().join()}`,
          );
        }
      }
    });

    test('names and labels follow the conventions of Prometheus', async () => {
      for (const { metrics } of await served()) {
        for (const [name, { type }] of metrics) {
          expect(`${name} ${String(name.endsWith('_total'))}`).toBe(`${name} ${String(type === 'counter')}`);
          expect(name).not.toMatch(/_(?:ms|milliseconds|kb|mb|minutes|hours|percent|count|sum|bucket)$/);
          if (name.includes('duration')) expect(name).toMatch(/_seconds$/);
        }
      }
    });

    test('every metric and label of a rule or a panel exists', async () => {
      const labelsOf = new Map(readDocumented().map(({ name, labels }) => [name, labels]));
      const all = (await served()).map(({ metrics }) => seriesNames(metrics));
      const exists = new Set(all.flatMap((names) => [...names]));
      const rules = readRules();
      const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
      const queries = [
        ...rules.map(({ alert, record, expr }) => ({ where: alert ?? record ?? '', expr })),
        ...readDashboards().flatMap(({ file, panels }) =>
          panels.flatMap((panel) =>
            queriesOf(panel).map((expr) => ({ where: `${file}: ${panel.title}`, expr })),
          ),
        ),
      ];
      expect(queries.length).toBeGreaterThan(50);
      const missing = queries.flatMap(({ where, expr }) => {
        const { metrics, groupedBy } = usedMetrics(expr);
        const known = metrics.map(({ name }) => labelsOf.get(name) ?? labelsOf.get(baseName(name)));
        const labels = new Set(known.flatMap((each) => [...(each ?? [])]).concat(OF_PROMETHEUS));
        return [
          ...metrics.filter(({ name }) => !exists.has(name) && !recorded.has(name)).map(({ name }) => name),
          ...[...groupedBy, ...metrics.flatMap((metric) => metric.labels)].filter(
            (label) => !labels.has(label),
          ),
        ].map((what) => `${where}: ${what}`);
      });
      expect(missing).toEqual([]);
    });

    test('no panel is empty: each query has samples on a stack that was used', async () => {
      const { demo } = stack();
      const token = await obtainToken(demo, demo.application);
      expect((await postGraphql(demo, token, QUERY)).status).toBe(200);
      const rules = readRules();
      const withoutSamples = async () => {
        const all = await served();
        const sampled = new Set(
          all.flatMap(({ metrics }) => [
            ...seriesNames(new Map([...metrics].filter(([, { samples }]) => samples > 0))),
          ]),
        );
        const isSampled = (expr: string): boolean =>
          usedMetrics(expr).metrics.every(({ name }) => {
            const rule = rules.find(({ record }) => record === name);
            return rule === undefined ? sampled.has(name) : isSampled(rule.expr);
          });
        return readDashboards().flatMap(({ file, panels }) =>
          panels
            .filter((panel) => {
              const queries = queriesOf(panel);
              return queries.length > 0 && !queries.some(isSampled);
            })
            .filter(({ title }) => title !== EMPTY_WITHOUT_TLS)
            .map(({ title }) => `${file}: ${title}`),
        );
      };
      expect(await eventually(withoutSamples, (panels) => panels.length === 0, 10_000)).toEqual([]);
    });
  });
}

function baseName(name: string): string {
  return name.replace(/_(?:bucket|sum|count)$/, '');
}
