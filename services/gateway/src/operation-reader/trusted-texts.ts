import { hash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { GraphQLError, Lexer, Source, TokenKind } from 'graphql';
import { LRUCache } from 'lru-cache';

/** Texts of registered documents, the only ones that run where documents must be trusted. */
export type TrustedTexts = {
  /** Whether it is one of them, apart from blanks, commas, comments and the order of its definitions. */
  has: (text: string) => boolean;
};

/** V8 hashes longer strings by their length alone, so a map of them would be slow. */
const KEY_MAX_LENGTH = 16_384;
/** Of texts that aren't written as they are registered; a manifest is one, applications with documents can be many. */
export const MANIFEST_VARIANTS_MAX_LENGTH = 1_048_576;
/** What an entry takes beside its text. */
const ENTRY_LENGTH = 256;

/** Between two turns of the event loop. */
const TURN_MS = 5;

/** In turns of the event loop, since a manifest can be long. */
export async function createTrustedTexts(
  registered: Iterable<string>,
  variantsMaxLength: number,
): Promise<TrustedTexts> {
  const exact = new Set<string>();
  const canonical = new Set<string>();
  let turnEndsAt = performance.now() + TURN_MS;
  for (const text of registered) {
    exact.add(keyOf(text));
    const digest = canonicalHash(text);
    if (digest !== null) canonical.add(digest);
    if (performance.now() < turnEndsAt) continue;
    await setImmediate();
    turnEndsAt = performance.now() + TURN_MS;
  }
  const variants = new LRUCache<string, true>({
    maxSize: variantsMaxLength,
    sizeCalculation: (_trusted, key) => key.length + ENTRY_LENGTH,
  });
  return {
    has: (text) => {
      const key = keyOf(text);
      if (exact.has(key) || variants.has(key)) return true;
      const digest = canonicalHash(text);
      if (digest === null || !canonical.has(digest)) return false;
      variants.set(key, true);
      return true;
    },
  };
}

function keyOf(text: string): string {
  return text.length > KEY_MAX_LENGTH ? hash('sha256', text) : text;
}

/** The same for documents that have the same definitions; null for a text that has unknown tokens. */
function canonicalHash(text: string): string | null {
  try {
    return hash('sha256', definitionsOf(text).toSorted().join('\n'));
  } catch (error) {
    if (error instanceof GraphQLError) return null;
    throw error;
  }
}

/** The tokens of each definition. A brace that is in no other bracket ends one. @throws {GraphQLError} */
function definitionsOf(text: string): string[] {
  const lexer = new Lexer(new Source(text));
  const definitions: string[] = [];
  let tokens: string[] = [];
  let depth = 0;
  for (let token = lexer.advance(); token.kind !== TokenKind.EOF; token = lexer.advance()) {
    const { kind, value, start, end } = token;
    const isText = kind === TokenKind.STRING || kind === TokenKind.BLOCK_STRING;
    // Quoted, since a string could look like tokens.
    tokens.push(isText ? JSON.stringify(value) : text.slice(start, end));
    if (kind === TokenKind.BRACE_L || kind === TokenKind.PAREN_L) depth += 1;
    if (kind === TokenKind.BRACE_R || kind === TokenKind.PAREN_R) depth -= 1;
    if (kind !== TokenKind.BRACE_R || depth !== 0) continue;
    definitions.push(tokens.join(' '));
    tokens = [];
  }
  definitions.push(tokens.join(' '));
  return definitions;
}
