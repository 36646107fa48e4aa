import { SpanKind } from '@opentelemetry/api';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import { traceFields } from '@tollgate/trace/context';
import { setFailed } from '@tollgate/trace/provider';
import type { TracedPart } from './traces.ts';

/** Consecutive child spans. */
export type Parts = {
  current: () => Span | null;
  /** Ends the previous part. */
  begin: (name: TracedPart) => void;
  end: (error?: string) => void;
};

export function createParts(tracer: Tracer, parent: Context): Parts {
  let part: Span | null = null;
  const end = (error?: string) => {
    if (part !== null && error !== undefined) setFailed(part, error);
    part?.end();
    part = null;
  };
  return {
    current: () => part,
    begin: (name) => {
      end();
      const kind = name === 'forward' ? SpanKind.CLIENT : SpanKind.INTERNAL;
      part = tracer.startSpan(name, { kind }, parent);
    },
    end,
  };
}

/** The trace context of a span's children; the caller's tracestate goes on unchanged. */
export function fieldsBelow(span: Span, tracestate: string | undefined): string[] {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return traceFields({ traceId, spanId, flags: traceFlags, tracestate });
}
