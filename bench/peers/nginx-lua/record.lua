-- Redis script: appends one call's usage to the payer's stream, adds it to the counters and frees its slot.
-- KEYS: stream, counters, slots. ARGV: the event as JSON, its points, its bytes, the call's id.
-- Redis answers when the event is on disk. Without a reader that trims it, the stream keeps its last calls.
redis.call('XADD', KEYS[1], 'MAXLEN', '~', 100000, '*', 'event', ARGV[1])
redis.set_repl(redis.REPL_REPLICA)
redis.call('HINCRBY', KEYS[2], 'points', ARGV[2])
redis.call('HINCRBY', KEYS[2], 'traffic_bytes', ARGV[3])
redis.call('HINCRBY', KEYS[2], 'requests', 1)
redis.call('ZREM', KEYS[3], ARGV[4])
return 1
