/**
 * Lines of redis.conf for a server that holds our data: tokens, and usage that isn't counted yet. What it
 * acknowledged outlives any crash, and it evicts nothing.
 */
export const REDIS_DATA_SETTINGS: readonly string[] = [
  // Redis answers when the write is on disk.
  'appendonly yes',
  'appendfsync always',
  'save ""',
  'maxmemory-policy noeviction',
  // Rewriting the file takes a core, and callers wait meanwhile: seldom, and without compressing (ADR 0033).
  'auto-aof-rewrite-min-size 256mb',
  'rdbcompression no',
];
