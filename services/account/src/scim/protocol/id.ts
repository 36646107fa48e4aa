const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** What has another form was never given out. */
export function isId(text: string): boolean {
  return UUID.test(text);
}
