/** Where the sign-in's address leads afterwards: a page below /user, whatever was typed there. */
export function nextPage(next: unknown): string {
  if (typeof next !== 'string' || !next.startsWith('/') || next === '/') return '/user';
  const { pathname, search, hash } = new URL(`/user${next}`, 'http://localhost');
  return pathname.startsWith('/user/') ? pathname + search + hash : '/user';
}
