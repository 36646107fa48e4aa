const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

/** The digits' ASCII codes. */
export const DIGIT_CODES: Uint8Array = Buffer.from(ALPHABET, 'latin1');

/** Five digits are divided off at a time: 62⁵ times 2¹⁶ is still a whole number without BigInt's cost. */
const DIGITS_AT_ONCE = 5;
const DIVISOR = 62 ** DIGITS_AT_ONCE;
const LIMB = 2 ** 16;

/**
 * A number, given as big-endian bytes of an even count, as exactly `length` base62 digits; leading zeros are
 * kept, digits beyond the length are dropped.
 */
export function toBase62(bytes: Buffer, length: number): string {
  const limbs: number[] = [];
  for (let at = 0; at < bytes.length; at += 2) limbs.push(bytes.readUInt16BE(at));
  let digits = '';
  let first = 0;
  while (digits.length < length) {
    let rest = 0;
    for (let at = first; at < limbs.length; at += 1) {
      const value = rest * LIMB + (limbs[at] ?? 0);
      const quotient = Math.floor(value / DIVISOR);
      limbs[at] = quotient;
      rest = value - quotient * DIVISOR;
    }
    while (limbs[first] === 0) first += 1;
    digits = digitsOf(rest) + digits;
  }
  return digits.slice(digits.length - length);
}

/** The same for a whole number below 2³². */
export function numberToBase62(value: number, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest = Math.floor(rest / 62)) {
    digits = ALPHABET.charAt(rest % 62) + digits;
  }
  return digits;
}

/** The number that base62 digits stand for; of other characters it makes no sense. */
export function fromBase62(digits: string): bigint {
  let value = 0n;
  for (const digit of digits) value = value * 62n + BigInt(ALPHABET.indexOf(digit));
  return value;
}

function digitsOf(value: number): string {
  return numberToBase62(value, DIGITS_AT_ONCE);
}
