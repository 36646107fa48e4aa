import type { Store } from './store.ts';

/** `expand[]=payment_intent.latest_charge`: ids become the objects that they name. */
export function expand(store: Store, answer: object, paths: readonly string[]): object {
  if (paths.length === 0) return answer;
  const copy = structuredClone(answer);
  for (const path of paths) expandOne(store, copy as Record<string, unknown>, path.split('.'));
  return copy;
}

function expandOne(store: Store, object: Record<string, unknown>, [name = '', ...rest]: string[]): void {
  const value = object[name];
  if (typeof value === 'string') object[name] = structuredClone(store.lookUp(value)) ?? value;
  const expanded = object[name];
  if (rest.length === 0 || typeof expanded !== 'object' || expanded === null) return;
  const inner = Array.isArray(expanded) ? expanded : [expanded];
  for (const item of inner) expandOne(store, item as Record<string, unknown>, rest);
}
