/**
 * The forms in which a secret text can stand in another: as it is, form-encoded, and in base64 or base64url at
 * any of the three places where its bytes can begin.
 */
export function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret);
  const base64s = [0, 1, 2].map((offset) => {
    const shifted = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    // The characters at both ends also hold bits of the neighbours.
    return shifted.slice(Math.ceil((offset * 8) / 6), -1);
  });
  return [
    ...new Set([
      secret,
      encodeURIComponent(secret),
      new URLSearchParams({ '': secret }).toString().slice(1),
      JSON.stringify(secret).slice(1, -1),
      ...base64s,
      ...base64s.map((form) => form.replaceAll('+', '-').replaceAll('/', '_')),
    ]),
  ];
}

/** The forms of the secrets that a text holds. */
export function leaks(text: string, secrets: readonly string[]): string[] {
  return secrets.flatMap(formsOf).filter((form) => text.includes(form));
}
