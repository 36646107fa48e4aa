-- Sends the request that the environment describes (wrk.ts), by the bearer tokens and variants of the body there in
-- turn, where there are any;
-- `wrk … -- MEAN_PAUSE_MS`. Its last line is JSON that wrk.ts reads.
local mean_pause_ms = 0
local tokens, requests, last = {}, {}, 0
local variants = tonumber(os.getenv('VARIANTS'))
for token in string.gmatch(os.getenv('TOKENS'), '%S+') do tokens[#tokens + 1] = token end

function init(args)
  wrk.method = os.getenv('METHOD')
  for name, value in string.gmatch(os.getenv('HEADERS'), '([^:\n]+): ([^\n]*)\n') do wrk.headers[name] = value end
  local body = os.getenv('BODY')
  for variant = 1, variants do
    if body ~= '' then wrk.body = string.gsub(body, '__N__', variant) end
    for _, token in ipairs(tokens) do
      wrk.headers['Authorization'] = 'Bearer ' .. token
      requests[#requests + 1] = wrk.format()
    end
  end
  mean_pause_ms = tonumber(args[1])
  math.randomseed(os.time())
end

-- A single request wrk makes once and never asks for again.
local function in_turn()
  last = last % #requests + 1
  return requests[last]
end
if #tokens * variants > 1 then request = in_turn end

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
