/** A query with an argument outside its range is refused. */
export const ARGUMENT_BOUNDS = {
  first: { min: 0, max: 100 },
  offset: { min: 0, max: 1_000 },
  intervalMs: { min: 100, max: 60_000 },
  times: { min: 1, max: 3_600 },
} as const;

export const MAX_OPERATION_POINTS = 10_000;

export const MAX_DEPTH = 12;

/** The assumed size of a list without a `first` argument. */
export const UNPAGED_LIST_SIZE = 10;

export const MAX_QUERY_TOKENS = 2_000;

export const MAX_WEBSOCKET_MESSAGE_BYTES = 65_536;
