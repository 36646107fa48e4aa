/** JSON.rawJSON and a reviver's third argument (ECMAScript 2026) are newer than TypeScript's library. */
const { rawJSON, isRawJSON } = JSON as unknown as {
  rawJSON: (text: string) => unknown;
  isRawJSON: (value: unknown) => boolean;
};

type Reviver = (this: unknown, key: string, value: unknown) => unknown;

/** Parses what is written again, with the digits that numbers came with. @throws {SyntaxError | RangeError} */
export function parseKeepingDigits(text: string): unknown {
  return JSON.parse(text, keepDigits as Reviver);
}

/** Of parsed JSON: a number whose digits are kept is no object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawJSON(value);
}

function keepDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  return typeof value === 'number' && context.source !== undefined && context.source !== String(value)
    ? rawJSON(context.source)
    : value;
}
