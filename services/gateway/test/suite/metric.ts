import type { ServiceProcess } from '@tollgate/testbed/service-process';
import { call } from './http-client.ts';

/** Sum of a metric's samples that have all the given labels. */
export async function metricOf(
  { privateUrl }: Pick<ServiceProcess, 'privateUrl'>,
  name: string,
  labels: Readonly<Record<string, string>> = {},
): Promise<number> {
  const { body } = await call(`${privateUrl}/metrics`, { method: 'GET' });
  return body
    .toString()
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter((line) => Object.entries(labels).every(([key, value]) => line.includes(`${key}="${value}"`)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}
