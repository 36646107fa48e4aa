import { formatShare } from '../../ui/format.ts';
import type { AlertLimit, ChosenSettings } from './queries.ts';

export const LIMIT_LABELS: Readonly<Record<AlertLimit, string>> = {
  points_limit: 'Points',
  time_sec_limit: 'Streaming time',
  traffic_bytes_limit: 'Traffic',
  team_slots_limit: 'Team slots',
};

export const LIMITS = Object.keys(LIMIT_LABELS) as AlertLimit[];

/** Thresholds in words: "50%, 80%". */
function thresholdsInWords(shares: readonly number[]): string {
  return shares.length === 0 ? 'no alerts' : shares.map((share) => formatShare(share / 100)).join(', ');
}

/** What differs between two versions of the settings, for someone who saw the first one. */
export function differencesInWords(before: ChosenSettings, after: ChosenSettings): string[] {
  const ofLimit = (settings: ChosenSettings, limit: AlertLimit) => {
    const shares = settings.limits[limit];
    if (shares === undefined && limit !== 'team_slots_limit') return 'as the default';
    return thresholdsInWords(shares ?? []);
  };
  const rows: [string, string, string][] = [
    ['Email', before.mail ? 'on' : 'off', after.mail ? 'on' : 'off'],
    ['Default thresholds', thresholdsInWords(before.shares), thresholdsInWords(after.shares)],
    ...LIMITS.map((limit): [string, string, string] => [
      LIMIT_LABELS[limit],
      ofLimit(before, limit),
      ofLimit(after, limit),
    ]),
  ];
  return rows.flatMap(([what, was, is]) => (was === is ? [] : [`${what}: ${is} (was ${was})`]));
}
