/**
 * What people type and others read: names of applications, tokens, people and teams, texts of plans and webhooks. Every
 * script and emoji passes; what can't be seen, or reorders the text around it, doesn't (docs/design/identity.md).
 */

/** Embeddings, overrides and isolates of the bidirectional algorithm (UAX #9, section 2), and their deprecated kin. */
const BIDI_CONTROL = /[\u202a-\u202e\u2066-\u206f]/u;

/** Tags spell hidden text. Only the flags of England, Scotland and Wales are made of them (UTS #51, annex C). */
const TAG = /[\u{e0000}-\u{e007f}]/u;
const TAG_FLAG = /\p{RGI_Emoji_Tag_Sequence}/gv;

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;

/** Letters, digits, punctuation and symbols, except fillers and the blank Braille pattern, which show nothing. */
const VISIBLE = /[[\p{L}\p{N}\p{P}\p{S}]--\p{Default_Ignorable_Code_Point}--\u2800]/v;

/** The fault of a text that may be empty, or undefined. */
export function textFault(text: string): string | undefined {
  if (!text.isWellFormed() || CONTROL.test(text)) return 'must be Unicode text without control characters';
  if (BIDI_CONTROL.test(text)) return 'must not contain bidirectional controls';
  if (TAG.test(text.replaceAll(TAG_FLAG, ''))) return 'must not contain tag characters';
  return undefined;
}

export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}
