export type ConnectionLimits = {
  headersTimeoutMs: number;
  /** For silence within a body. */
  bodyIdleTimeoutMs: number;
  /** For an unused connection. The server may shorten it (Keep-Alive: timeout=…), not lengthen it. */
  keepAliveMs: number;
  /** A connection takes no new request after that, so that DNS changes are seen. Up to a fifth less, at random. */
  maxAgeMs: number;
  /** A connection takes no more, without it any number; 1 for one of its own for each request. */
  maxRequests?: number;
};
