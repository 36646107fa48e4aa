import { localUrl } from '@tollgate/stack/service-settings';
import type { Secrets } from './secrets.ts';
import { addressLines } from './settings.ts';
import type { Settings } from './settings.ts';

/** What the account service's seed prints. */
export type SampleIds = {
  account_id: number;
  application_id: number;
  member: { account_id: number; application_id: number };
};

/** `.tollgate/demo.json`: all that a script needs to use the running stack. */
export function demoOf({ ports }: Settings, secrets: Secrets, ids: SampleIds) {
  const { manager, member, credentials } = secrets;
  const gateway = localUrl(ports.gateway);
  return {
    auth_url: localUrl(ports.auth),
    account_url: localUrl(ports.account),
    streaming_url: gateway,
    console: { url: `${gateway}/user`, email: manager.email, password: manager.password },
    account_id: ids.account_id,
    application: {
      application_id: ids.application_id,
      client_id: manager.application.client_id,
      client_secret: manager.application.client_secret,
    },
    member: {
      account_id: ids.member.account_id,
      email: member.email,
      password: member.password,
      application_id: ids.member.application_id,
      client_id: member.application.client_id,
      client_secret: member.application.client_secret,
    },
    private: {
      auth_url: localUrl(ports.authPrivate),
      account_url: localUrl(ports.accountPrivate),
      gateway_url: localUrl(ports.gatewayPrivate),
      client_id: 'operator',
      client_secret: credentials.operator,
    },
  };
}

/** What a user reads when everything runs: addresses, the sign-in, and a call that works as pasted. */
export function welcome(settings: Settings, demo: ReturnType<typeof demoOf>, logs: string): string {
  const { application } = demo;
  const query = JSON.stringify({ query: '{ country(code: "CH") { name capital languages { name } } }' });
  return `
Tollgate runs.

${addressLines(settings)
  .map((line) => `  ${line}`)
  .join('\n')}
  logs      ${logs}

Sign in at ${demo.console.url}
  e-mail    ${demo.console.email}
  password  ${demo.console.password}

A token, a call, the usage:

TOKEN=$(curl -s ${demo.auth_url}/oauth2/token -d grant_type=client_credentials -d scope=api \\
  -d client_id=${application.client_id} \\
  -d client_secret=${application.client_secret} |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -i ${demo.streaming_url}/graphql -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '${query}'

curl -s ${demo.account_url}/api/usage -H "Authorization: Bearer $TOKEN"

Ctrl-C stops it.`;
}
