import { parser } from '@prometheus-io/lezer-promql';
import type { SyntaxNode } from '@lezer/common';

/** A metric in a query, and the labels that the query selects it by or keeps. */
export type UsedMetric = { name: string; labels: string[] };

/** What Prometheus itself knows of every target. */
const OF_PROMETHEUS = new Set(['up']);

/**
 * The metrics of a PromQL expression, with the labels of their own matchers, and the labels by which it groups.
 * @throws {Error} if it isn't PromQL
 */
export function usedMetrics(expression: string): { metrics: UsedMetric[]; groupedBy: string[] } {
  const metrics: UsedMetric[] = [];
  const groupedBy: string[] = [];
  const textOf = ({ from, to }: SyntaxNode) => expression.slice(from, to);
  parser.parse(expression).iterate({
    enter: ({ node, type, from }) => {
      if (type.isError) throw new Error(`no PromQL at ${String(from)}: ${expression}`);
      if (type.name === 'VectorSelector') {
        const identifier = node.getChild('Identifier');
        if (identifier === null) throw new Error(`a selector without a metric's name: ${expression}`);
        const name = textOf(identifier);
        const matchers = node.getChild('LabelMatchers')?.getChildren('UnquotedLabelMatcher') ?? [];
        const labels = matchers.flatMap((matcher) => matcher.getChildren('LabelName').map(textOf));
        if (!OF_PROMETHEUS.has(name)) metrics.push({ name, labels });
      }
      if (type.name === 'GroupingLabels') groupedBy.push(...node.getChildren('LabelName').map(textOf));
    },
  });
  return { metrics, groupedBy };
}
