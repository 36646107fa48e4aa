import { isObject } from './json.ts';

export const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
export const COLON = 0x3a;
export const LIST_BEGIN = 0x5b;
export const LIST_END = 0x5d;
export const OBJECT_BEGIN = 0x7b;
export const OBJECT_END = 0x7d;

/** Of JSON that isn't parsed yet, and may not be valid. */
export function isNestedBeyond(json: string, levels: number): boolean {
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case LIST_BEGIN:
      case OBJECT_BEGIN:
        depth += 1;
        if (depth > levels) return true;
        break;
      case LIST_END:
      case OBJECT_END:
        depth -= 1;
        break;
      case QUOTE:
        at = endOfString(json, at);
        if (at < 0) return false;
        break;
      default:
    }
  }
  return false;
}

/** The texts of an object's values by their names. `json` must be valid; of a repeated name, the last one counts. */
export function memberTexts(json: string): Map<string, string> {
  const texts = new Map<string, string>();
  scanParts(json, (name, text) => texts.set(name, text));
  return texts;
}

/** The texts of a list's items. `json` must be valid. */
export function itemTexts(json: string): string[] {
  const texts: string[] = [];
  scanParts(json, (_name, text) => texts.push(text));
  return texts;
}

/**
 * The JSON of `changed`. What it has of `original`, which `json` was parsed to, is written as it was, with the digits of
 * its numbers.
 */
export function rewritten(
  json: string,
  original: Readonly<Record<string, unknown>>,
  changed: Readonly<Record<string, unknown>>,
): string {
  const texts = memberTexts(json);
  const members = Object.entries(changed).map(([name, value]) => {
    const text = texts.get(name);
    const before = original[name];
    const isKept = text !== undefined && value === before;
    const isPart = text !== undefined && isObject(value) && isObject(before);
    const written = isKept ? text : isPart ? rewritten(text, before, value) : JSON.stringify(value);
    return `${JSON.stringify(name)}:${written}`;
  });
  return `{${members.join()}}`;
}

function scanParts(json: string, onPart: (name: string, text: string) => void): void {
  let depth = 0;
  let isList = false;
  let name = '';
  /** Where the value begins; -1 before it. */
  let valueAt = -1;
  const endPart = (at: number) => {
    if (valueAt >= 0) onPart(name, json.slice(valueAt, at));
    valueAt = isList ? at + 1 : -1;
  };
  for (let at = 0; at < json.length; at += 1) {
    switch (json.charCodeAt(at)) {
      case LIST_BEGIN:
        if (depth === 0) {
          isList = true;
          valueAt = at + 1;
        }
        depth += 1;
        break;
      case OBJECT_BEGIN:
        depth += 1;
        break;
      case LIST_END:
      case OBJECT_END:
        depth -= 1;
        if (depth === 0) endPart(at);
        break;
      case QUOTE: {
        const end = endOfString(json, at);
        if (depth === 1 && valueAt < 0) name = unescaped(json.slice(at + 1, end));
        at = end;
        break;
      }
      case COLON:
        if (depth === 1) valueAt = at + 1;
        break;
      case COMMA:
        if (depth === 1) endPart(at);
        break;
      default:
    }
  }
}

/** The index of the quote that ends the string which begins at `start`; -1 without one. */
export function endOfString(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let escapes = 0;
    while (json.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
}

/** What stands between the quotes of a string. */
export function unescaped(written: string): string {
  return written.includes('\\') ? (JSON.parse(`"${written}"`) as string) : written;
}
