import { mkdirSync, writeFileSync } from 'node:fs';
import { DASHBOARDS_DIRECTORY } from '../dashboards.ts';
import { dashboardFiles } from './dashboard-files.ts';

// node tools/observability/src/grafana/write-dashboards.ts writes k8s/tollgate/dashboards.
mkdirSync(DASHBOARDS_DIRECTORY, { recursive: true });
for (const [file, json] of Object.entries(dashboardFiles()))
  writeFileSync(`${DASHBOARDS_DIRECTORY}/${file}`, json);
