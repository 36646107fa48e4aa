import { demoOf } from '@tollgate/sample/demo';
import type { DemoSecrets, SampleIds } from '@tollgate/sample/demo';
import { localUrl } from '@tollgate/stack/service-settings';
import type { StackPlan } from '@tollgate/stack/service-settings';
import { addressLines } from './settings.ts';
import type { Settings } from './settings.ts';
import type { StatePaths } from './state.ts';

export type Demo = ReturnType<typeof demoOf>;

/** `.tollgate/demo.json`, for scripts that use the running stack. */
export function localDemo({ ports }: Pick<StackPlan, 'ports'>, secrets: DemoSecrets, ids: SampleIds): Demo {
  const urls = {
    auth: localUrl(ports.auth),
    account: localUrl(ports.account),
    gateway: localUrl(ports.gateway),
    authPrivate: localUrl(ports.authPrivate),
    accountPrivate: localUrl(ports.accountPrivate),
    gatewayPrivate: localUrl(ports.gatewayPrivate),
  };
  const { manager, member, credentials } = secrets;
  return demoOf(urls, { manager, member, credentials }, ids);
}

export function welcome(
  settings: Settings,
  demo: Demo,
  { logs, mail }: Pick<StatePaths, 'logs' | 'mail'>,
  operatorSignIn: string,
): string {
  const { application } = demo;
  const query = JSON.stringify({ query: '{ country(code: "CH") { name capital languages { name } } }' });
  return `
Tollgate is running. Sign in, and see each call in the Overview:

  ${demo.console.url}/sign-in
  email     ${demo.console.email}
  password  ${demo.console.password}

The operators' console, and a link that signs its sample operator in once:

  ${new URL('.', operatorSignIn).href}
  ${operatorSignIn}

A token, a call, the usage:

TOKEN=$(curl -s ${demo.auth_url}/oauth2/token -d grant_type=client_credentials -d scope=api \\
  -d client_id=${application.client_id} \\
  -d client_secret=${application.client_secret} |
  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')

curl -i ${demo.streaming_url}/graphql -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '${query}'

sleep 1; curl -s ${demo.account_url}/api/usage -H "Authorization: Bearer $TOKEN"

${addressLines(settings)
  .map((line) => `  ${line}`)
  .join('\n')}
  logs      ${logs}
  mails     ${mail}

Ctrl-C stops it.`;
}
