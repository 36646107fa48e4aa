import { SpanKind } from '@opentelemetry/api';
import type { Context, Span, Tracer } from '@opentelemetry/api';
import { traceFields } from '@tollgate/trace/context';
import { setFailed } from '@tollgate/trace/provider';
import type { TracedStep } from './traces.ts';

/** Consecutive child spans. */
export type Steps = {
  current: () => Span | null;
  /** Ends the previous step. */
  begin: (name: TracedStep) => void;
  end: (error?: string) => void;
};

export function createSteps(tracer: Tracer, parent: Context): Steps {
  let step: Span | null = null;
  const end = (error?: string) => {
    if (step !== null && error !== undefined) setFailed(step, error);
    step?.end();
    step = null;
  };
  return {
    current: () => step,
    begin: (name) => {
      end();
      const kind = name === 'forward' ? SpanKind.CLIENT : SpanKind.INTERNAL;
      step = tracer.startSpan(name, { kind }, parent);
    },
    end,
  };
}

/** The trace context of a span's children; the caller's tracestate goes on unchanged. */
export function fieldsBelow(span: Span, tracestate: string | undefined): string[] {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return traceFields({ traceId, spanId, flags: traceFlags, tracestate });
}
