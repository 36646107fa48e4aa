/** The range of each numeric argument, by its name; the price list refuses a query that leaves it. */
export const ARGUMENT_BOUNDS = {
  first: { min: 0, max: 100 },
  offset: { min: 0, max: 1_000 },
  intervalMs: { min: 100, max: 60_000 },
  times: { min: 1, max: 3_600 },
} as const;

/** What a single operation may cost, in points. */
export const MAX_OPERATION_POINTS = 10_000;

/** How deep fields may nest. */
export const MAX_DEPTH = 12;

/** How many objects a list without a `first` argument is priced as. */
export const UNPAGED_LIST_SIZE = 10;

/** How long a query document may be, in tokens. */
export const MAX_QUERY_TOKENS = 2_000;

/** How large a WebSocket message may be. */
export const MAX_WEBSOCKET_MESSAGE_BYTES = 65_536;
