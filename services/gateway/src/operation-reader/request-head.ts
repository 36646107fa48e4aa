import { isObject } from './json.ts';
import { PROTOCOL_NAMES, folded } from './protocol-names.ts';

/** Stands for variables that only a worker has. */
const ELSEWHERE = Symbol('variables elsewhere');

export function areElsewhere(variables: unknown): boolean {
  return variables === ELSEWHERE;
}

/** Variables as they cross threads: an object, or a list of so many. */
type Counted = { count: number | null };

const PERSISTED = folded('persistedQuery');
const NAMES = new Set(PROTOCOL_NAMES.map(folded));

/**
 * What the gateway reads of a parsed request, or of a list of them, but the variables: of the same operations, and
 * refused in the same way. It is small but for texts, and can be sent between threads.
 */
export function headOf(request: unknown, batchLimit: number): unknown {
  if (!Array.isArray(request)) return headOfOne(request, batchLimit);
  // One more than may be is enough to be refused.
  return request.slice(0, batchLimit + 1).map((each: unknown) => headOfOne(each, batchLimit));
}

/** With something in place of the variables of each operation. */
export function withVariablesElsewhere(head: unknown): unknown {
  if (Array.isArray(head)) return head.map(withVariablesElsewhere);
  if (!isObject(head) || !isObject(head['variables'])) return head;
  const { count } = head['variables'] as Counted;
  return { ...head, variables: count === null ? ELSEWHERE : new Array<unknown>(count).fill(ELSEWHERE) };
}

function headOfOne(request: unknown, batchLimit: number): unknown {
  if (!isObject(request)) return emptied(request);
  const head: Record<string, unknown> = {};
  for (const name of PROTOCOL_NAMES) {
    if (!Object.hasOwn(request, name)) continue;
    const value = request[name];
    if (name === 'variables') head[name] = counted(value, batchLimit);
    else head[name] = name === 'extensions' && isObject(value) ? extensionsOf(value) : emptied(value);
  }
  return head;
}

function counted(variables: unknown, batchLimit: number): unknown {
  if (isObject(variables)) return { count: null } satisfies Counted;
  if (!Array.isArray(variables) || variables.length === 0) return emptied(variables);
  return { count: Math.min(variables.length, batchLimit + 1) } satisfies Counted;
}

function extensionsOf(extensions: Record<string, unknown>): Record<string, unknown> {
  const read = Object.entries(extensions).filter(([name]) => isReadInExtensions(folded(name)));
  return Object.fromEntries(
    read.map(([name, value]) => [
      name,
      folded(name) === PERSISTED && isObject(value) && 'sha256Hash' in value
        ? { sha256Hash: emptied(value['sha256Hash']) }
        : emptied(value),
    ]),
  );
}

function isReadInExtensions(name: string): boolean {
  return name === PERSISTED || NAMES.has(name);
}

/** Of what isn't read, it matters only which kind of value it is. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return [];
  return typeof value === 'object' && value !== null ? {} : value;
}
