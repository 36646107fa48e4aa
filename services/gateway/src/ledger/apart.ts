/**
 * `apart` runs a function for one payer of several in a script call. An error of that payer's data, such as a key of
 * another type, is returned as { -1, its text } in place of the function's value, so that it fails no other payer. Other
 * replies, such as READONLY, say that the server takes no writes or commands: they end the script.
 */
export const LUA_APART = `
local function apart(run, ...)
  local is_done, value = pcall(run, ...)
  if is_done then return value end
  local text = type(value) == 'table' and value.err or tostring(value)
  local code = string.match(text, '^%-?(%u+) ')
  if code and code ~= 'WRONGTYPE' and code ~= 'ERR' then error({ err = text }) end
  return { -1, text }
end
`;

/** What a script returns for a payer: its own value, or `apart`'s failure. */
export type OrFailure<Value extends readonly unknown[]> = Value | readonly [code: -1, text: string];

/** @throws {Error} if the payer's data couldn't be read */
export function dataOf<Value extends readonly unknown[]>(value: OrFailure<Value>): Value {
  if (isFailure(value)) throw new Error(`Redis has unreadable data of a payer: ${value[1]}`);
  return value;
}

function isFailure(value: readonly unknown[]): value is readonly [-1, string] {
  return value[0] === -1;
}
