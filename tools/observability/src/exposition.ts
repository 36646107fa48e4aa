export type ServedMetric = {
  type: string;
  help: string;
  /** Of its samples, without `le` and `quantile`; empty while it has none. */
  labels: Set<string>;
  samples: number;
};

/** Reads Prometheus' text format: metrics by name, without the suffixes of histograms and summaries. */
export function readExposition(text: string): Map<string, ServedMetric> {
  const metrics = new Map<string, ServedMetric>();
  const help = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, kind, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) (.*)$/.exec(line) ?? [];
    if (kind === 'HELP') help.set(name, rest);
    if (kind === 'TYPE') {
      metrics.set(name, { type: rest, help: help.get(name) ?? '', labels: new Set(), samples: 0 });
    }
    if (kind !== undefined || line === '') continue;
    const [, sample = '', labels = ''] = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? /.exec(line) ?? [];
    const metric = metrics.get(sample) ?? metrics.get(sample.replace(/_(?:bucket|sum|count)$/, ''));
    if (metric === undefined) throw new Error(`a sample without a type: ${line}`);
    metric.samples += 1;
    for (const [, label = ''] of labels.matchAll(/(?<!\w)([a-zA-Z_]\w*)="(?:[^"\\]|\\.)*"/g)) {
      if (label !== 'le' && label !== 'quantile') metric.labels.add(label);
    }
  }
  return metrics;
}

/** The names that a query can use: a histogram has `_bucket`, `_sum` and `_count`. */
export function seriesNames(metrics: ReadonlyMap<string, ServedMetric>): Set<string> {
  return new Set(
    [...metrics].flatMap(([name, { type }]) =>
      type === 'histogram' || type === 'summary'
        ? ['_bucket', '_sum', '_count'].map((suffix) => name + suffix)
        : [name],
    ),
  );
}
