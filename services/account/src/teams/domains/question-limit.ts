import type { AttemptLimit } from '../../identity/attempts/attempt-counts.ts';
import type { TeamDomain } from './store.ts';

/** DNS is asked once a minute, however many ask. By name: a domain that is removed and added again is another row. */
export function questionLimit({ team_id, domain }: Pick<TeamDomain, 'team_id' | 'domain'>): AttemptLimit {
  return { subject: `domain question ${String(team_id)} ${domain}`, max: 1, windowSec: 60 };
}
