/** What a sample sends. `variables` is undefined where the operation has none. */
export type Operation = {
  query: string;
  operationName: string | null;
  variables: unknown;
  isSubscription: boolean;
};

/** Of a document with one operation and no comment before it. */
export function startsSubscription(query: string): boolean {
  return query.trimStart().startsWith('subscription');
}

/** What a sample authenticates with: a token, or the credentials that it gets one with. */
export type Credential =
  | { kind: 'token'; token: string }
  | { kind: 'client'; clientId: string; clientSecret: string; tokenUrl: string };

export type SampleInput = { operation: Operation; credential: Credential; dataUrl: string };

/** The body of the call; members that are not needed are left out. */
export function bodyOf({ query, operationName, variables }: Operation): Record<string, unknown> {
  return {
    query,
    ...(operationName === null ? {} : { operationName }),
    ...(variables === undefined ? {} : { variables }),
  };
}

/** A value as JSON that is also safe inside HTML and in every source file. */
export function jsonOf(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent)
    .replace(/<(?=[/!])/g, '\\u003c')
    .replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, unicodeEscape);
}

/** `\u0007`, which JSON, JavaScript, Python and Java read alike. */
export function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Control characters other than the line feed and the tab, and halves of surrogate pairs, which UTF-8 can't hold. */
export const UNWRITABLE =
  // eslint-disable-next-line no-control-regex -- These are the characters that a source file must not contain.
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
