local cjson = require 'cjson.safe'
local lrucache = require 'resty.lrucache'
-- lua-resty-redis, as Debian names it.
local redis_client = require 'nginx.redis'

local CACHED_SEC = 300
local SLOT_MS = 60000
local RECORDED_LATER_SEC = 0.1
local CALLS_PER_PIPELINE = 500
local POOL_SIZE, IDLE_MS, TIMEOUT_MS = 256, 60000, 2000

local settings, admit, record
local caches = {}

local function script_of(name)
  local file = assert(io.open(settings.scripts .. '/' .. name))
  local text = file:read('*a')
  file:close()
  local digest = ngx.sha1_bin(text):gsub('.', function(byte) return string.format('%02x', byte:byte()) end)
  return { text = text, digest = digest }
end

-- A table for each worker before text that workers share, as in lua-resty-mlcache.
local function cache_of(name)
  return { own = lrucache.new(20000), shared = ngx.shared[name] }
end

local function cached(cache, key, load)
  local known = cache.own:get(key)
  if known then return known end
  local text = cache.shared:get(key)
  if not text then
    text = load(key)
    if not text then return nil end
    cache.shared:set(key, text, CACHED_SEC)
  end
  local value = cjson.decode(text)
  if value then cache.own:set(key, value, cache.shared:ttl(key) or CACHED_SEC) end
  return value
end

local function body_of(answer)
  return answer.status == 200 and answer.body or nil
end

local function introspect(token)
  return body_of(ngx.location.capture('/introspection', { method = ngx.HTTP_POST, args = { token = token } }))
end

local function entitle(account_id)
  return body_of(ngx.location.capture('/entitlements/' .. account_id, { method = ngx.HTTP_GET }))
end

local function with_redis(use)
  local client = redis_client:new()
  client:set_timeout(TIMEOUT_MS)
  local connected, failure = client:connect(settings.redis_host, settings.redis_port, { pool_size = POOL_SIZE })
  if connected and client:get_reused_times() == 0 then connected, failure = client:auth(settings.redis_password) end
  if not connected then return nil, failure end
  local result
  result, failure = use(client)
  if result == nil then client:close() else client:set_keepalive(IDLE_MS, POOL_SIZE) end
  return result, failure
end

local function run(script, ...)
  local arguments, count = { ... }, select('#', ...)
  return with_redis(function(client)
    local result, failure = client:evalsha(script.digest, unpack(arguments, 1, count))
    if result == false and failure:find('NOSCRIPT', 1, true) then
      return client:eval(script.text, unpack(arguments, 1, count))
    end
    return result, failure
  end)
end

local function refuse(status, code)
  ngx.status = status
  ngx.header['Content-Type'] = 'application/json'
  ngx.say('{"errors":[{"message":"', code, '","extensions":{"code":"', code, '"}}]}')
  return ngx.exit(status)
end

local function limit(value)
  return value == cjson.null and -1 or value
end

local REFUSALS = {
  { 402, 'points_limit_exceeded' }, { 402, 'traffic_limit_exceeded' },
  { 429, 'rate_limit_exceeded' }, { 429, 'session_limit_exceeded' },
}

-- Steps 1 to 3: authenticate, entitle, admit. Ends a refused request; else returns the admitted call.
local function admitted()
  local authorization = ngx.var.http_authorization
  local token = authorization and authorization:match('^Bearer ([0-9A-Za-z_]+)$')
  local caller = token and cached(caches.introspections, token, introspect)
  if token and not caller then return refuse(503, 'service_unavailable') end
  if not caller or not caller.active or caller.exp <= ngx.time() then return refuse(401, 'invalid_token') end
  local entitlement = cached(caches.entitlements, caller.account_id, entitle)
  if not entitlement then return refuse(503, 'service_unavailable') end
  local period, status = entitlement.billing_period, entitlement.status
  if status ~= 'active' and status ~= 'grace' then return refuse(402, 'subscription_inactive') end

  local payer = '{p' .. entitlement.payer_id .. '}:peer:'
  local call = {
    id = ngx.var.request_id, caller = caller, entitlement = entitlement, limits = period.limits,
    counters = payer .. 'counters:' .. period.period_id, slots = payer .. 'calls', stream = payer .. 'usage',
  }
  local limits = period.limits
  local decision, failure = run(admit, 3, call.counters, payer .. 'rate', call.slots,
    limit(limits.points_limit), limit(limits.traffic_bytes_limit), limit(limits.rate_limit),
    limit(limits.session_limit), SLOT_MS, call.id)
  if not decision then
    ngx.log(ngx.ERR, 'not admitted: ', failure)
    return refuse(503, 'service_unavailable')
  end
  local refusal = REFUSALS[decision[1]]
  if refusal then return refuse(refusal[1], refusal[2]) end
  call.points_left, call.calls_left, call.reset_sec = decision[2], decision[3], decision[4]
  ngx.var.account_id, ngx.var.payer_id = caller.account_id, entitlement.payer_id
  ngx.var.application_id = caller.application_id
  return call
end

local function price_of(stated)
  return tonumber(stated) or 1
end

local function state_limits(call, points)
  local header, limits = ngx.header, call.limits
  header['X-Request-Id'] = call.id
  header['X-Points-Cost'] = points
  header['X-Billing-Status'] = call.entitlement.status
  if call.points_left >= 0 then header['X-Points-Remaining'] = math.max(call.points_left - points, 0) end
  if limits.rate_limit ~= cjson.null then
    header['RateLimit-Policy'] = '"rate";q=' .. limits.rate_limit .. ';w=60'
    header['RateLimit'] = '"rate";r=' .. call.calls_left .. ';t=' .. call.reset_sec
  end
end

local function event_of(call, points, bytes)
  return table.concat({
    '{"id":"', call.id, '","payer_id":', call.entitlement.payer_id,
    ',"period_id":', call.entitlement.billing_period.period_id,
    ',"account_id":', call.caller.account_id, ',"application_id":', call.caller.application_id,
    ',"api_version":"v2","points":', points, ',"requests":1,"time_ms":0,"traffic_bytes":', bytes,
    ',"at_ms":', string.format('%d', ngx.now() * 1000), '}',
  })
end

local NOT_FORWARDED = {
  connection = true, ['keep-alive'] = true, ['transfer-encoding'] = true, date = true, server = true,
  ['x-points'] = true, ['content-length'] = true,
}

local gateway = {}

function gateway.init(given)
  settings = given
  admit, record = script_of('admit.lua'), script_of('record.lua')
  caches.introspections, caches.entitlements = cache_of('introspections'), cache_of('entitlements')
end

-- The filters of a proxied response can't wait for Redis, so a subrequest fetches it whole.
function gateway.record_before_answer()
  ngx.req.read_body()
  local call = admitted()
  local answer = ngx.location.capture('/upstream', {
    method = ngx.HTTP_POST, always_forward_body = true, share_all_vars = true,
  })
  local points, bytes = price_of(answer.header['X-Points']), #answer.body
  local recorded, failure = run(record, 3, call.stream, call.counters, call.slots,
    event_of(call, points, bytes), points, bytes, call.id)
  if not recorded then
    ngx.log(ngx.ERR, 'not recorded: ', failure)
    return refuse(503, 'service_unavailable')
  end
  ngx.status = answer.status
  for name, value in pairs(answer.header) do
    if not NOT_FORWARDED[name:lower()] then ngx.header[name] = value end
  end
  ngx.header['Content-Length'] = bytes
  state_limits(call, points)
  ngx.print(answer.body)
end

function gateway.admit_call()
  ngx.ctx.call = admitted()
end

function gateway.state_points()
  local call = ngx.ctx.call
  if not call then return end
  call.points = price_of(ngx.var.upstream_http_x_points)
  state_limits(call, call.points)
end

local waiting = {}

local function record_all()
  local calls = waiting
  waiting = {}
  for first = 1, #calls, CALLS_PER_PIPELINE do
    local results, failure = with_redis(function(client)
      client:script('load', record.text)
      client:init_pipeline(CALLS_PER_PIPELINE)
      for index = first, math.min(first + CALLS_PER_PIPELINE - 1, #calls) do
        local call = calls[index]
        client:evalsha(record.digest, 3, call.stream, call.counters, call.slots,
          call.event, call.points, call.bytes, call.id)
      end
      return client:commit_pipeline()
    end)
    if not results then ngx.log(ngx.ERR, 'usage is lost: ', failure) end
  end
end

function gateway.record_later()
  local call = ngx.ctx.call
  if not call or not call.points then return end
  call.bytes = tonumber(ngx.var.body_bytes_sent)
  call.event = event_of(call, call.points, call.bytes)
  waiting[#waiting + 1] = call
  if #waiting == 1 then ngx.timer.at(RECORDED_LATER_SEC, record_all) end
end

return gateway
