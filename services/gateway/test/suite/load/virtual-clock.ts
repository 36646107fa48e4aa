import type { Command, RedisConnection } from '@tollgate/redis';

/**
 * Time that passes only when a test says so, for gateways in the test's process and for their scripts on a real Redis.
 * Keys that such scripts write don't expire by the real clock.
 */
export type VirtualClock = {
  nowMs: () => number;
  pass: (ms: number) => Promise<void>;
  /** Has the connection's scripts read this clock. */
  rule: (redis: RedisConnection) => void;
};

const KEY = 'suite:clock';
/** Some moment of these years. */
const BEGIN_MS = 1_790_000_000_000;

const LUA_CLOCK = `
local function virtual_time()
  local now_ms = tonumber(redis.call('GET', '${KEY}'))
  return { string.format('%d', math.floor(now_ms / 1000)), string.format('%d', (now_ms % 1000) * 1000) }
end
local function not_expiring() end
`;

const REPLACED = {
  "redis.call('TIME')": 'virtual_time()',
  "redis.call('PEXPIRE',": 'not_expiring(',
  ", 'PX', string.format('%d', ttl_ms)": '',
};

export async function startVirtualClock(redis: RedisConnection): Promise<VirtualClock> {
  let nowMs = BEGIN_MS;
  await redis.set(KEY, nowMs);
  return {
    nowMs: () => nowMs,
    pass: async (ms) => {
      nowMs += ms;
      await redis.set(KEY, nowMs);
    },
    rule: (ruled) => {
      const sendCommand = ruled.sendCommand.bind(ruled);
      ruled.sendCommand = (command: Command, ...rest: []) => {
        if (command.name === 'evalsha') {
          command.reject(new Error('NOSCRIPT'));
          return command.promise;
        }
        if (command.name === 'eval') command.args[0] = virtual(String(command.args[0]));
        return sendCommand(command, ...rest);
      };
    },
  };
}

const scripts = new Map<string, string>();

function virtual(lua: string): string {
  const known = scripts.get(lua);
  if (known !== undefined) return known;
  const script = Object.entries(REPLACED).reduce((text, [part, other]) => text.replaceAll(part, other), lua);
  scripts.set(lua, LUA_CLOCK + script);
  return LUA_CLOCK + script;
}
