const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export const DIGIT_CODES: Uint8Array = Buffer.from(ALPHABET, 'latin1');

/** 62⁵ · 2¹⁶ is still a safe integer, which saves BigInt's cost. */
const DIGITS_AT_ONCE = 5;
const DIVISOR = 62 ** DIGITS_AT_ONCE;
const LIMB = 2 ** 16;

/** An even number of big-endian bytes as exactly `length` digits: zeros in front are kept, digits beyond dropped. */
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

export function numberToBase62(value: number, length: number): string {
  let digits = '';
  for (let rest = value; digits.length < length; rest = Math.floor(rest / 62)) {
    digits = ALPHABET.charAt(rest % 62) + digits;
  }
  return digits;
}

export function fromBase62(digits: string): bigint {
  let value = 0n;
  for (const digit of digits) value = value * 62n + BigInt(ALPHABET.indexOf(digit));
  return value;
}

function digitsOf(value: number): string {
  return numberToBase62(value, DIGITS_AT_ONCE);
}
