import { table } from './markdown.ts';
import type { ServedMetric } from './served-metrics.ts';

type Served = Readonly<Record<string, readonly ServedMetric[]>>;

const HEAD = ['metric', 'type', 'labels', 'meaning'];

/**
 * docs/metrics.md with type, labels and meaning as the services declare them. The document says in which chapter and
 * order: a chapter named after a service lists what only that service has, any other what all have. The rows of
 * prom-client's own metrics, which depend on the system, stay as they are.
 *
 * @throws {Error} if a metric has no row, or a row no metric
 */
export function withMetrics(document: string, served: Served): string {
  const listed = new Set<string>();
  const chapters = document.split(/^(?=## )/m).map((chapter) => {
    const heading = /^## (.*)$/m.exec(chapter)?.[1] ?? '';
    const services = heading in served ? [heading] : Object.keys(served);
    return chapter.replaceAll(/^\| metric .*\n(?:\|.*\n)+/gm, (old) => {
      const rows = old.trimEnd().split('\n').slice(2).map(cellsOf);
      return `${table(
        HEAD,
        rows.map((cells) => rowOf(cells, services)),
      )}\n`;
    });
  });
  const missing = Object.entries(served).flatMap(([service, metrics]) =>
    metrics
      .filter(({ name }) => isOurs(name) && !listed.has(`${service} ${name}`))
      .map(({ name }) => `${service}: ${name}`),
  );
  if (missing.length > 0)
    throw new Error(`docs/metrics.md has no row \`| name |\` for ${missing.join(', ')}`);
  return chapters.join('');

  function rowOf(cells: readonly string[], services: readonly string[]): readonly string[] {
    const name = cells[0]?.replaceAll('`', '') ?? '';
    if (!isOurs(name)) return cells;
    const declared = services.map((service) => {
      listed.add(`${service} ${name}`);
      const metric = served[service]?.find((each) => each.name === name);
      if (metric === undefined)
        throw new Error(`docs/metrics.md lists ${name}, which ${service} doesn't have`);
      return metric;
    });
    const { type = '', help = '', labelNames = [] } = declared[0] ?? {};
    return [`\`${name}\``, type, labelNames.map((label) => `\`${label}\``).join(', '), help];
  }
}

const isOurs = (name: string) => name.startsWith('tollgate_');

const cellsOf = (row: string) =>
  row
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
