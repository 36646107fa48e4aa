import { randomBytes, randomUUID } from 'node:crypto';

export type SamplePerson = {
  email: string;
  name: string;
  password: string;
  application: { name: string; client_id: string; client_secret: string };
};

export type SampleSecrets = {
  postgres_password: string;
  redis_password: string;
  /** Value of CLIENT_SECRET_PEPPERS. */
  peppers: string;
  /** Value of TOKEN_SEALING_KEYS. */
  sealing_keys: string;
  credentials: Record<'gateway' | 'account' | 'auth' | 'operator' | 'usage_reporter', string>;
  /** Of the server that stands in for Stripe: a test key, and what its events are signed with. */
  payments: { secret_key: string; webhook_secret: string };
  manager: SamplePerson;
  member: SamplePerson;
};

/** Passwords and credentials need no quoting in a URL, a shell or a configuration file. */
export function newSampleSecrets(): SampleSecrets {
  return {
    postgres_password: secret(),
    redis_password: secret(),
    peppers: `p1:${randomBytes(32).toString('base64')}`,
    sealing_keys: `k1:${randomBytes(32).toString('base64')}`,
    credentials: {
      gateway: secret(),
      account: secret(),
      auth: secret(),
      operator: secret(),
      usage_reporter: secret(),
    },
    payments: {
      secret_key: `sk_test_${randomBytes(16).toString('hex')}`,
      webhook_secret: `whsec_${secret()}`,
    },
    manager: samplePerson('manager@example.com', 'Sample manager', 'Sample application'),
    member: samplePerson('member@example.com', 'Sample member', "Member's application"),
  };
}

function samplePerson(email: string, name: string, applicationName: string): SamplePerson {
  return {
    email,
    name,
    password: randomBytes(12).toString('base64url'),
    application: { name: applicationName, client_id: randomUUID(), client_secret: secret() },
  };
}

function secret(): string {
  return randomBytes(32).toString('base64url');
}
