import { isVisible, textFault } from '../http/input/visible-text.ts';
import { emailAddressOf } from './email-address.ts';

/** Who mails are from. The library quotes the name (RFC 5322, section 3.2.4), or encodes it (RFC 2047). */
export type Sender = { name: string; address: string };

/** A host in one's own network, to which emailAddressOf allows no mail. */
const LOCAL = /^[\w.+-]{1,64}@[a-z0-9-]{1,63}$/i;

const NAME_MAX_CHARACTERS = 100;

/**
 * `address`, `Name <address>` or `"Name" <address>`. The name is what readers see, whatever characters it has; in
 * quotes, `\` escapes one. @throws {Error} with what is wrong
 */
export function senderOf(text: string): Sender {
  const [, given = '', inBrackets] = /^([^]*)<([^<>]*)>$/.exec(text.trim()) ?? [];
  const typed = inBrackets ?? text.trim();
  const address = emailAddressOf(typed) ?? (LOCAL.test(typed) ? typed : undefined);
  if (address === undefined) {
    throw new Error('must be an email address, or a name and an email address in angle brackets');
  }
  return { name: nameOf(given.trimEnd()), address };
}

function nameOf(given: string): string {
  const quoted = /^"((?:[^"\\]|\\[^])*)"$/.exec(given)?.[1];
  const name = quoted === undefined ? given : quoted.replaceAll(/\\([^])/g, '$1');
  if (name === '') return name;
  // More than one sender, most likely.
  if (quoted === undefined && /[<>]/.test(name))
    throw new Error('the name must be in quotes if it has < or >');
  const fault = textFault(name) ?? (isVisible(name) ? undefined : 'must have at least one visible character');
  if (fault !== undefined) throw new Error(`the name ${fault}`);
  if (Array.from(name).length > NAME_MAX_CHARACTERS) {
    throw new Error(`the name must have at most ${String(NAME_MAX_CHARACTERS)} characters`);
  }
  if (/=\?[^?]*\?[bq]\?/i.test(name))
    throw new Error('the name must not be encoded; write it as readers see it');
  return name;
}
