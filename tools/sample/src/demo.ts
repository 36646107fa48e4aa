import type { SampleSecrets } from './secrets.ts';

export type SampleIds = {
  account_id: number;
  application_id: number;
  member: { account_id: number; application_id: number };
};

/** Base URLs without a trailing slash. */
export type StackUrls = {
  auth: string;
  account: string;
  gateway: string;
  authPrivate: string;
  accountPrivate: string;
  gatewayPrivate: string;
};

export type DemoSecrets = Pick<SampleSecrets, 'manager' | 'member'> & {
  /** `operator` may introspect and use account's operator API, `usage_reporter` may report usage. */
  credentials: Pick<SampleSecrets['credentials'], 'operator' | 'usage_reporter'>;
};

export function demoOf(urls: StackUrls, { manager, member, credentials }: DemoSecrets, ids: SampleIds) {
  return {
    auth_url: urls.auth,
    account_url: urls.account,
    streaming_url: urls.gateway,
    console: { url: `${urls.gateway}/user`, email: manager.email, password: manager.password },
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
      auth_url: urls.authPrivate,
      account_url: urls.accountPrivate,
      gateway_url: urls.gatewayPrivate,
      client_id: 'operator',
      client_secret: credentials.operator,
      usage_reporter: { client_id: 'usage_reporter', client_secret: credentials.usage_reporter },
    },
  };
}
