import { MAX_EVENT_COUNTER } from '@tollgate/contracts/usage-stream';
import { isObject } from '../../operation-reader/json.ts';

/** The points that the upstream states in a message's payload; null without plausible ones. */
export type StatedPoints = (payload: unknown) => number | null;

export function createStatedPoints(path: string): StatedPoints {
  const names = ['extensions', ...path.split('.')];
  return (payload) => {
    // graphql-transport-ws has a list of errors, the older protocol a single one.
    let value: unknown = Array.isArray(payload) ? payload[0] : payload;
    for (const name of names) value = isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
    return isPlausible(value) ? value : null;
  };
}

function isPlausible(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_EVENT_COUNTER;
}
