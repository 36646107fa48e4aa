import { z } from 'zod';
import { httpUrl } from '@tollgate/config/settings';
import { SAMPLER_NAMES } from './sampler-names.ts';

/** OTEL_EXPORTER_OTLP_HEADERS: percent-encoded `name=value` pairs. */
const otlpHeaders = z
  .string()
  .regex(/^[^=,\s]+=[^,\r\n]*(?:,[^=,\s]+=[^,\r\n]*)*$/, 'must be name=value pairs separated by commas')
  .transform((value) =>
    Object.fromEntries(
      value.split(',').map((pair) => {
        const equals = pair.indexOf('=');
        return [pair.slice(0, equals), decodeURIComponent(pair.slice(equals + 1))];
      }),
    ),
  )
  .meta({ values: '`name=value` pairs, separated by commas', isSecret: true });

/** Of a service that sends traces. */
export function traceSettings(serviceName: string) {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: httpUrl
      .optional()
      .describe('OpenTelemetry collector; nothing is traced without it'),
    OTEL_EXPORTER_OTLP_HEADERS: otlpHeaders
      .default({})
      .describe('header fields for the collector, percent-encoded'),
    OTEL_SERVICE_NAME: z.string().default(serviceName).describe('name of the service in traces'),
    OTEL_TRACES_SAMPLER: z
      .enum(SAMPLER_NAMES)
      .default('parentbased_always_on')
      .describe('which calls and sockets are traced'),
    OTEL_TRACES_SAMPLER_ARG: z
      .string()
      .regex(/^(?:0|1|[01]?\.\d{1,9})$/, 'must be a number from 0 to 1')
      .transform(Number)
      .refine((ratio) => ratio <= 1, 'must be a number from 0 to 1')
      .default(1)
      .meta({ description: 'ratio for the `traceidratio` samplers', values: '0 to 1' }),
  };
}

export type TraceConfig = z.output<z.ZodObject<ReturnType<typeof traceSettings>>>;
