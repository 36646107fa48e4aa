const CLOSER: Readonly<Record<string, string>> = { '{': '}', '[': ']' };

/**
 * The beginning of a JSON text, cut after a member or an element so that it is JSON again; what is open is closed. Null
 * if no member of it fits in the bytes. The text may itself be only a beginning.
 */
export function cutJson(text: string, maxBytes: number): string | null {
  const open: string[] = [];
  let end: { at: number; closers: string } | null = null;
  let bytes = 0;
  let inString = false;
  /** What is open is closed with a byte for each. */
  const note = (at: number) => {
    if (bytes + open.length <= maxBytes) end = { at, closers: open.toReversed().join('') };
  };
  for (let at = 0; at < text.length && bytes <= maxBytes; at += 1) {
    const char = text.charAt(at);
    if (inString) {
      bytes += bytesOf(text, at);
      if (char === '\\') {
        at += 1;
        bytes += bytesOf(text, at);
      } else if (char === '"') inString = false;
      continue;
    }
    // What comes before a comma is complete.
    if (char === ',') note(at);
    bytes += 1;
    if (char === '"') inString = true;
    else if (char in CLOSER) open.push(CLOSER[char] ?? '');
    else if (char === '}' || char === ']') {
      open.pop();
      note(at + 1);
    }
  }
  const cut = end as { at: number; closers: string } | null;
  return cut === null ? null : text.slice(0, cut.at) + cut.closers;
}

/** In UTF-8; of a surrogate pair each half counts two. */
function bytesOf(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) return 1;
  return code < 0x800 || (code >= 0xd800 && code < 0xe000) ? 2 : 3;
}
