/** What the interface calls the limits. */
export const LIMIT_NAMES = {
  points_limit: 'Points',
  time_sec_limit: 'Streaming time',
  traffic_bytes_limit: 'Traffic',
  team_slots_limit: 'Team slots',
} as const;
