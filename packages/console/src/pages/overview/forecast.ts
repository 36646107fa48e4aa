import { serverNowMs } from '../../api/server-clock.ts';
import { formatMoment } from '../../ui/format.ts';
import type { Pace } from './queries.ts';

/** Whether enough of the period has passed to say how it goes on (docs/design/counting.md). */
export function hasForecast({ forecast_from }: Pick<Pace, 'forecast_from'>, nowMs = serverNowMs()): boolean {
  return forecast_from !== null && Date.parse(forecast_from) <= nowMs;
}

/** Why there is no forecast, and when there will be. */
export function noForecastText({ forecast_from }: Pick<Pace, 'forecast_from'>): string {
  if (forecast_from === null) return 'This billing period is too short for a forecast.';
  return `Forecast ${formatMoment(forecast_from)}, after 24 hours and 3% of the billing period.`;
}
