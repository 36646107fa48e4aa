import { Problem } from '@tollgate/http/problem';
import {
  COLON,
  LIST_BEGIN,
  LIST_END,
  OBJECT_BEGIN,
  OBJECT_END,
  QUOTE,
  endOfString,
  isNestedBeyond,
  unescaped,
} from './json-text.ts';

/** Members that name a stored document, in the dialects of today's servers; some read them from `extensions`. */
export const STORED_DOCUMENT_NAMES = [
  'id',
  'documentId',
  'document_id',
  'docId',
  'doc_id',
  'queryId',
  'query_id',
  'queryHash',
  'query_hash',
  'operationId',
  'operation_id',
  'hash',
  'persisted',
] as const;

/** The members of a request that decide what a server runs (GraphQL over HTTP, "Request Parameters"). */
export const PROTOCOL_NAMES = ['query', 'operationName', 'variables', 'extensions', ...STORED_DOCUMENT_NAMES];

const EXACT_NAMES = new Map(PROTOCOL_NAMES.map((name) => [folded(name), name]));

/** As readers fold names that ignore case: Go's encoding/json takes U+017F for an s, and U+212A for a k. */
export function folded(name: string): string {
  return name.toLowerCase().toUpperCase();
}

/** The protocol's name that a reader without regard to case would take this one for. */
function exactName(name: string): string | undefined {
  return EXACT_NAMES.get(folded(name));
}

/** Without the members that only a reader without regard to case would take for the protocol's. */
export function withExactNames(payload: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(payload);
  const isPlain = ([name]: [string, unknown]) => (exactName(name) ?? name) === name;
  return entries.every(isPlain) ? payload : Object.fromEntries(entries.filter(isPlain));
}

/** All of JSON's blanks are at most this, and nothing else between its strings is. */
const BLANK_MAX = 0x20;

/** Deeper JSON takes readers long to parse, and some can't. */
export const MAX_NESTING = 64;
/** So little is parsed in no time, however deep it is nested. */
const SHORT_LENGTH = 16_384;

/** Of a request that isn't parsed yet, and may not be valid. @throws {Problem} invalid_request */
export function assertShallow(json: string): void {
  if (json.length > SHORT_LENGTH && isNestedBeyond(json, MAX_NESTING)) throw tooDeep();
}

function tooDeep(): Problem {
  return new Problem('invalid_request', {
    detail: `The request is nested more than ${String(MAX_NESTING)} levels deep.`,
  });
}

/**
 * Checks that every reader finds the same protocol members in a request, a JSON object or a list of them: none is
 * repeated, written with escapes or in another case, no member of `variables` or `extensions` or below is repeated, and
 * no value is nested too deep. `json` must be valid. Compares codes, since each call is checked.
 * @throws {Problem} invalid_request
 */
export function assertExactNames(json: string): void {
  let depth = 0;
  let requestDepth = 1;
  const seen: string[] = [];
  /** The member whose own members must not be repeated, while it is open. */
  let within: Within | null = null;
  const seenBelow: SeenBelow = [];
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case LIST_BEGIN:
        if (depth === 0) requestDepth = 2;
        depth += 1;
        if (depth > MAX_NESTING) throw tooDeep();
        break;
      case OBJECT_BEGIN:
        depth += 1;
        if (depth > MAX_NESTING) throw tooDeep();
        if (depth === requestDepth) seen.length = 0;
        else seenBelow[depth] = undefined;
        break;
      case LIST_END:
      case OBJECT_END:
        depth -= 1;
        break;
      case QUOTE: {
        const end = endOfString(json, at);
        if ((depth === requestDepth || within !== null) && isFollowedByColon(json, end)) {
          const written = json.slice(at + 1, end);
          if (depth === requestDepth) {
            assertExact(written, seen);
            within = written === 'variables' || written === 'extensions' ? written : null;
          } else if (within !== null) assertUnrepeated(within, written, seenBelow, depth);
        }
        at = end;
        break;
      }
      // Outside of strings, nothing else tells where a name stands.
      default:
    }
  }
}

type Within = 'variables' | 'extensions';

/** Names of the object that is open at each depth: none, one, or several. */
type SeenBelow = (string | Set<string> | undefined)[];

/** The same for a request's variables alone. @throws {Problem} invalid_request */
export function assertExactVariables(json: string): void {
  assertExactNames(`{"variables":${json}}`);
}

/**
 * The parameters of a URL's query, if every reader finds the same ones of the protocol. Some servers take
 * `variables[first]` for a part of `variables`, `document.id` for `document_id`, or a semicolon for what separates two,
 * and bytes that aren't UTF-8 are read in many ways.
 * @throws {Problem} invalid_request
 */
export function exactParameters(query: string): URLSearchParams {
  if (!isDecodable(query))
    throw new Problem('invalid_request', { detail: 'The query of the URL must be encoded UTF-8.' });
  const parameters = new URLSearchParams(query);
  const seen: string[] = [];
  for (const name of parameters.keys()) {
    assertExact(JSON.stringify(name).slice(1, -1), seen);
    if (!PROTOCOL_NAMES.includes(name)) assertNoPart(name);
  }
  for (const behind of query.split(';').slice(1))
    for (const name of new URLSearchParams(behind.split('&', 1)[0]).keys()) assertNoPart(name);
  return parameters;
}

function isDecodable(query: string): boolean {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}

/** @throws {Problem} invalid_request if a reader could take it for one of the protocol's names */
function assertNoPart(name: string): void {
  const parts = name.split(/[[\]. \0]+/).filter((part) => part !== '');
  const exact = exactName(parts[0] ?? '') ?? exactName(parts.join('_'));
  if (exact !== undefined) throw misread(exact, 'must be written exactly so');
}

function isFollowedByColon(json: string, end: number): boolean {
  let at = end + 1;
  while (json.charCodeAt(at) <= BLANK_MAX) at += 1;
  return json.charCodeAt(at) === COLON;
}

/** `written` is a name between its quotes; `seen` are the protocol's names before it in the same request. */
function assertExact(written: string, seen: string[]): void {
  if (!PROTOCOL_NAMES.includes(written)) {
    const exact = exactName(unescaped(written));
    if (exact === undefined) return;
    throw misread(exact, 'must be written exactly so, without escapes');
  }
  if (seen.includes(written)) throw misread(written, 'must not be repeated');
  seen.push(written);
}

/** Names of variables are told apart by case; those of extensions, as readers without regard to case see them. */
function assertUnrepeated(within: Within, written: string, seenBelow: SeenBelow, depth: number): void {
  const name = within === 'variables' ? unescaped(written) : folded(unescaped(written));
  const seen = seenBelow[depth];
  if (seen === undefined) seenBelow[depth] = name;
  else if (seen === name || (seen instanceof Set && seen.has(name)))
    // The name is the caller's text, and must not be recorded.
    throw new Problem('invalid_request', { detail: `No member of \`${within}\` must be repeated.` });
  else if (seen instanceof Set) seen.add(name);
  else seenBelow[depth] = new Set([seen, name]);
}

function misread(name: string, rule: string): Problem {
  return new Problem('invalid_request', { detail: `The member ${name} of a request ${rule}.` });
}
