import { startRecordingStandIn } from './recording-stand-in.ts';
import type { Seen } from './recording-stand-in.ts';

type Attribute = { key: string; value: { stringValue?: string; intValue?: number | string } };

type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 1 INTERNAL, 2 SERVER, 3 CLIENT. */
  kind: number;
  attributes: Attribute[];
  /** 2 ERROR. */
  status: { code?: number };
};

/** A span as a collector got it. */
export type CollectedSpan = Omit<OtlpSpan, 'attributes'> & { attributes: Record<string, unknown> };

export type Collector = {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  url: string;
  /** In order. */
  received: Seen[];
  /** All requests as text. */
  everything: () => string;
  spansOf: (traceId: string) => CollectedSpan[];
  goAway: () => Promise<void>;
};

/** A stand-in for a collector: OTLP over HTTP, in JSON. */
export async function startCollector(): Promise<Collector> {
  const received: Seen[] = [];
  const { url, goAway } = await startRecordingStandIn('collector', received);
  return {
    url,
    received,
    everything: () => received.map(({ body }) => body).join(''),
    spansOf: (traceId) =>
      received
        .map(({ body }) => JSON.parse(body) as { resourceSpans: { scopeSpans: { spans: OtlpSpan[] }[] }[] })
        .flatMap(({ resourceSpans }) => resourceSpans)
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans)
        .filter((span) => span.traceId === traceId)
        .map((span) => ({ ...span, attributes: byKey(span.attributes) })),
    goAway,
  };
}

function byKey(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  );
}
