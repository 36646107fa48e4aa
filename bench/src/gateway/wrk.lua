-- POSTs one body with the bearer token of the environment; `wrk … -- MEAN_PAUSE_MS`. Its last line is JSON that
-- wrk.ts reads.
local mean_pause_ms = 0

function init(args)
  wrk.method = 'POST'
  wrk.body = '{"query":"{ country(code: \\"CH\\") { name capital } }"}'
  wrk.headers['Content-Type'] = 'application/json'
  wrk.headers['Authorization'] = 'Bearer ' .. os.getenv('TOKEN')
  mean_pause_ms = tonumber(args[1])
  math.randomseed(os.time())
end

-- Even pauses would march in step.
function pause()
  return math.floor(math.random() * 2 * mean_pause_ms + 0.5)
end

-- wrk looks for the global `delay` before `init` runs, and a pause of 0 would still cost a timer per request.
if os.getenv('PAUSED') then delay = pause end

function done(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"requests":%d,"durationMs":%.0f,"failures":%d,"cpuMs":%.0f,"p50Ms":%.3f,"p99Ms":%.3f}',
    summary.requests, summary.duration / 1000,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    os.clock() * 1000, latency:percentile(50) / 1000, latency:percentile(99) / 1000))
end
