export function publishedPorts(env: Readonly<Record<string, string | undefined>> = process.env) {
  return {
    gateway: env['GATEWAY_PORT'] ?? '4000',
    auth: env['AUTH_PORT'] ?? '4001',
    account: env['ACCOUNT_PORT'] ?? '4002',
  };
}

/** The tag that docker-compose.yml gives the images, by default their version. */
export function imageTag(version: string, env: Readonly<Record<string, string | undefined>> = process.env) {
  return env['TOLLGATE_TAG'] ?? version;
}
