const STRINGS_AND_COMMENTS = /"""(?:\\"""|[^])*?"""|"(?:\\.|[^"\\\n])*"|#[^\n\r]*/g;
const INNERMOST = /\{[^{}()[\]]*\}|[([][^{}()[\]]*[)\]]/g;

/**
 * Whether sending a document twice changes nothing: the operation that runs is a query. A document in which the
 * name doesn't tell which one runs counts as a mutation.
 */
export function isQuery(document: string, operationName?: string): boolean {
  let heads = document.replace(STRINGS_AND_COMMENTS, ' ');
  for (let before = ''; before !== heads;) {
    before = heads;
    heads = heads.replace(INNERMOST, (nested) => (nested.startsWith('{') ? ';' : ' '));
  }
  const operations = heads
    .split(';')
    .slice(0, -1)
    .map((head) => /^[\s,\ufeff]*(\w*)\s*(\w*)/.exec(head) ?? [])
    .filter(([, type]) => type !== 'fragment');
  const named = operations.filter(([, , name]) => operationName === undefined || name === operationName);
  const [, type] = named[0] ?? [];
  return named.length === 1 && (type === 'query' || type === '') && !/[{}()[\]]/.test(heads);
}
