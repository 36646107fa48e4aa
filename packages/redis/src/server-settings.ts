/** Lines of redis.conf for tokens and uncounted usage: acknowledged writes survive any crash. */
export const REDIS_DATA_SETTINGS: readonly string[] = [
  'appendonly yes',
  'appendfsync always',
  'save ""',
  'maxmemory-policy noeviction',
  // A rewrite takes a core while callers wait (docs/design/settlement.md).
  'auto-aof-rewrite-min-size 256mb',
  'rdbcompression no',
];
