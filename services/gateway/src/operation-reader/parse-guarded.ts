import { GraphQLError, Source, getLocation } from 'graphql';
import type { DocumentNode, SourceLocation } from 'graphql';
import { Parser } from 'graphql/language/parser.js';
import type { ErrorCode } from '@tollgate/contracts/error-codes';
import { Problem } from '@tollgate/http/problem';
import { exceededGuard } from './guards.ts';
import type { Counted, Guards } from './guards.ts';

type Refusal = { code: ErrorCode; what: string };

const REFUSALS: Readonly<Record<Counted | 'tokens', Refusal>> = {
  tokens: { code: 'too_many_tokens', what: 'tokens' },
  depth: { code: 'document_too_deep', what: 'levels of fields' },
  aliases: { code: 'too_many_aliases', what: 'aliases' },
  rootFields: { code: 'too_many_root_fields', what: 'root fields' },
  directives: { code: 'too_many_directives', what: 'directives' },
  introspection: { code: 'introspection_disabled', what: 'introspection fields' },
};

/** Whether any guard is on. */
export function hasGuards(guards: Guards): boolean {
  const { maxDepth, maxAliases, maxRootFields, maxDirectives, maxTokens, introspection } = guards;
  return maxDepth + maxAliases + maxRootFields + maxDirectives + maxTokens > 0 || !introspection;
}

/** @throws {Problem} document_invalid, and the codes of the guards */
export function parseGuarded(text: string, guards: Guards): DocumentNode {
  try {
    const document = parseBounded(text, guards, true);
    if (exceededGuard(document, guards) === null) return document;
    // Only refused documents need locations, which take time and memory.
    const exceeded = exceededGuard(parseBounded(text, guards, false), guards);
    if (exceeded === null) return document;
    const { counted, limit, found, node } = exceeded;
    throw refusal(counted, { limit, found }, node.loc && getLocation(new Source(text), node.loc.start));
  } catch (error) {
    // Thousands of lists in each other, for example.
    if (error instanceof RangeError) throw refusal('depth', { limit: guards.maxDepth }, undefined);
    throw error;
  }
}

function parseBounded(text: string, { maxTokens }: Guards, noLocation: boolean): DocumentNode {
  const parser = new Parser(text, { noLocation, ...(maxTokens > 0 && { maxLexicalTokens: maxTokens }) });
  try {
    return parser.parseDocument();
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    const location = error.locations?.[0];
    if (maxTokens > 0 && parser.tokenCount > maxTokens)
      throw refusal('tokens', { limit: maxTokens, found: parser.tokenCount }, location);
    // The parser's message quotes the document, whose literals must not be recorded.
    throw new Problem('document_invalid', located(location));
  }
}

function refusal(
  counted: Counted | 'tokens',
  figures: { limit: number; found?: number },
  location: SourceLocation | undefined,
): Problem {
  const { code, what } = REFUSALS[counted];
  const detail = figures.limit === 0 ? undefined : `An operation may have ${String(figures.limit)} ${what}.`;
  const { extensions } = located(location);
  return new Problem(code, {
    ...(detail === undefined ? {} : { detail }),
    extensions: { ...figures, ...extensions },
  });
}

function located(location: SourceLocation | undefined) {
  return { extensions: location === undefined ? {} : { locations: [location] } };
}
