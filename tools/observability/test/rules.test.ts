import { mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { findPromtool } from '../src/promtool.ts';
import type { Promtool } from '../src/promtool.ts';
import { RULES_DIRECTORY, readRules } from '../src/rules.ts';
import type { AlertCase } from './cases/case.ts';
import { DATA_CASES } from './cases/data.ts';
import { SERVICE_LEVEL_CASES } from './cases/service-levels.ts';
import { SERVICE_CASES } from './cases/services.ts';

const CASES = { ...SERVICE_LEVEL_CASES, ...SERVICE_CASES, ...DATA_CASES };

const rules = readRules();
const alerts = rules.flatMap(({ alert }) => alert ?? []);
const fileOf = (name: string) => rules.find(({ alert }) => alert === name)?.file ?? '';
const ruleFiles = readdirSync(RULES_DIRECTORY).map((file) => join(RULES_DIRECTORY, file));

let directory: string;
let promtool: Promtool | null;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-promtool-'));
  promtool = await findPromtool(join(directory, 'apt.log'));
  if (promtool === null) {
    process.stderr.write(
      'Left out: promtool is not installed, so no rule is tested. REQUIRE_PROMTOOL=1 gets it.\n',
    );
  }
}, 300_000);

afterAll(() => {
  rmSync(directory, { recursive: true });
});

test('each alert has a case, and each case an alert', () => {
  expect(new Set(alerts).size).toBe(alerts.length);
  expect(Object.keys(CASES).toSorted()).toEqual(alerts.toSorted());
});

test('promtool accepts the rules', () => {
  if (promtool === null) return;
  const { ok, output } = promtool('check', 'rules', ...ruleFiles);
  expect({ ok, output }).toMatchObject({ ok: true });
});

test('promtool accepts the configuration that docs/metrics.md shows', () => {
  if (promtool === null) return;
  const page = readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8');
  const config = /^```yaml\n([^]*?)^```/m.exec(page)?.[1] ?? '';
  const file = join(directory, 'prometheus.yml');
  writeFileSync(file, config);
  const { ok, output } = promtool('check', 'config', file);
  expect({ ok, output }).toMatchObject({ ok: true });
});

describe('promtool', () => {
  /** What it says of each alert's file. One process for all: most of what it does for one is its start. */
  let results: ReadonlyMap<string, string>;

  beforeAll(() => {
    if (promtool === null) return;
    const files = Object.entries(CASES).map(([alert, alertCase]) => {
      const file = join(directory, `${alert}.json`);
      // JSON is YAML.
      writeFileSync(file, JSON.stringify(promtoolTest(alert, alertCase)));
      return file;
    });
    const { output } = promtool('test', 'rules', ...files);
    results = new Map(
      output.split('Unit Testing:').map((result) => {
        const [file = '', ...lines] = result.trim().split('\n');
        return [basename(file, '.json'), lines.join('\n').trim()];
      }),
    );
  }, 300_000);

  test.each(Object.keys(CASES))('%s fires, and only then', (alert) => {
    if (promtool === null) return;
    expect(results.get(alert)).toBe('SUCCESS');
  });
});

/** A file with the alert and the recorded series of its own file: to evaluate all alerts for each takes most of the time. */
function ownRules(alert: string): string {
  const text = readFileSync(join(RULES_DIRECTORY, fileOf(alert)), 'utf8');
  const { groups } = parse(text) as { groups: { rules: { alert?: string }[] }[] };
  const own = groups.map((group) => ({
    ...group,
    rules: group.rules.filter((rule) => rule.alert === undefined || rule.alert === alert),
  }));
  const file = join(directory, `${alert}.rules.json`);
  writeFileSync(file, JSON.stringify({ groups: own.filter(({ rules }) => rules.length > 0) }));
  return file;
}

function promtoolTest(alert: string, { at, everyMin = 1, fires, quiet }: AlertCase) {
  const firing = `count(ALERTS{alertname="${alert}",alertstate="firing"}) > bool 0`;
  const one = (series: Readonly<Record<string, string>>, samples: object[]) => ({
    interval: `${String(everyMin)}m`,
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    promql_expr_test: [{ expr: firing, eval_time: at, exp_samples: samples }],
  });
  return {
    rule_files: [ownRules(alert)],
    evaluation_interval: `${String(everyMin)}m`,
    tests: [one(fires, [{ labels: '{}', value: 1 }]), one(quiet, [])],
  };
}
