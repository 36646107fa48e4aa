/** REQUIRE_PROMTOOL=1: get promtool where it isn't installed. */
export function requiresPromtool(): boolean {
  return process.env['REQUIRE_PROMTOOL'] === '1';
}
