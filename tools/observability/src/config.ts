/** REQUIRE_PROMTOOL=1: get promtool where it isn't installed. */
export function requiresPromtool(): boolean {
  return process.env['REQUIRE_PROMTOOL'] === '1';
}

/** The environment of programs that are started. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  return process.env;
}
