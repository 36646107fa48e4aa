/** Stripe's times are in whole seconds. */
export function secondsOf(date: Date): number {
  return Math.floor(date.getTime() / 1_000);
}

export function dateOf(seconds: number): Date {
  return new Date(seconds * 1_000);
}

/** Of what Stripe states by its id, or expands. */
export function idOf(reference: string | { id: string } | null | undefined): string | undefined {
  return typeof reference === 'string' ? reference : reference?.id;
}
