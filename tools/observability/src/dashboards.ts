import { readFileSync, readdirSync } from 'node:fs';
import { REPOSITORY } from './documented.ts';

type Target = { expr: string; legendFormat?: string; datasource?: { type: string; uid: string } };

export type Panel = {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  fieldConfig?: { defaults: { unit?: string } };
  targets?: Target[];
};

export type Dashboard = {
  file: string;
  uid: string;
  title: string;
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; type: string; query?: unknown }[] };
};

export const DASHBOARDS_DIRECTORY = `${REPOSITORY}/k8s/tollgate/dashboards`;

export function readDashboards(): Dashboard[] {
  return readdirSync(DASHBOARDS_DIRECTORY).map((file) => ({
    file,
    ...(JSON.parse(readFileSync(`${DASHBOARDS_DIRECTORY}/${file}`, 'utf8')) as Omit<Dashboard, 'file'>),
  }));
}

/** A panel's queries with Grafana's own variables filled in, so that they are PromQL. */
export function queriesOf({ targets = [] }: Panel): string[] {
  return targets.map(({ expr }) => expr.replaceAll(/\$__rate_interval|\$__interval|\$__range/g, '5m'));
}
