import type { RequestHandler } from 'express';
import { Counter } from 'prom-client';
import type { Registry } from 'prom-client';
import { serviceCallerId } from '@tollgate/http/private-api-credential';
import { bodyOf } from '../../http/input/json-body.ts';
import type { CountReport, EventOutcome } from './count-report.ts';
import { reportSchema } from './input.ts';

export type ReportMetrics = { events: Pick<Counter<'outcome'>, 'inc'> };

/**
 * `POST /private/usage-reports` with `{events: [{idempotency_key, account_id, application_id?, api_version,
 * occurred_at, points, requests, time_ms, traffic_bytes}]}`, 1 to 500 events metered by another system
 * (docs/design/counting.md). Needs a credential of USAGE_REPORTER_CREDENTIALS; keys are unique per credential.
 *
 * 200 `{counted, repeated, refused, results}`; a result is `{index, idempotency_key, status}` with `period_id` if
 * `counted` or `repeated`, or `code` (docs/errors.md) if `refused`. 400 names every invalid field, and nothing is
 * counted; 413 above 512 KiB; 503 while Postgres is unavailable: sent again, each event is counted once.
 */
export function usageReportEndpoint(countReport: CountReport, metrics: ReportMetrics): RequestHandler {
  return async (req, res) => {
    const { events } = bodyOf(req, reportSchema);
    const outcomes = await countReport(serviceCallerId(res), events);
    const count = (status: EventOutcome['status']) =>
      outcomes.filter((outcome) => outcome.status === status).length;
    const counts = { counted: count('counted'), repeated: count('repeated'), refused: count('refused') };
    for (const [outcome, number] of Object.entries(counts)) metrics.events.inc({ outcome }, number);
    const results = events.map(({ idempotency_key }, index) => ({
      index,
      idempotency_key,
      ...outcomes[index],
    }));
    res.json({ ...counts, results });
  };
}

export function createReportMetrics(registry: Registry): ReportMetrics {
  return {
    events: new Counter({
      name: 'tollgate_usage_report_events_total',
      help: 'Events reported to this process by other systems, by outcome: counted, repeated or refused',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  };
}
