import { LANGUAGES } from '../../packages/console/src/code-samples/samples.ts';
import { VERIFICATION_SAMPLES } from '../../packages/console/src/pages/webhooks/verification-samples.ts';

/** The samples of the web interface, which suites of their own run, as parts of the customers' book. */

const DATA_URL = 'https://data.tollgate.example/graphql';

/** The programs that make a first call. That page has the one for curl. */
export function callSamples(): string {
  const operation = {
    query: '{ __typename }',
    operationName: null,
    variables: undefined,
    isSubscription: false,
  };
  const credential = {
    kind: 'client',
    clientId: 'YOUR_CLIENT_ID',
    clientSecret: 'YOUR_CLIENT_SECRET',
    tokenUrl: 'https://auth.tollgate.example/oauth2/token',
  } as const;
  return sections(
    LANGUAGES.filter(({ id }) => id !== 'curl').map(({ sample, ...language }) => ({
      ...language,
      sample: sample({ operation, credential, dataUrl: DATA_URL }),
    })),
  );
}

/** One for each transport. */
export function subscriptionSamples(): string {
  const query = 'subscription { yourEvent { id } }';
  const operation = { query, operationName: null, variables: undefined, isSubscription: true };
  const credential = { kind: 'token', token: 'YOUR_TOKEN' } as const;
  return sections(
    LANGUAGES.filter(({ id }) => id === 'curl' || id === 'javascript').map(({ sample, ...language }) => ({
      ...language,
      note: `${language.note} ${language.subscriptionNote}`,
      sample: sample({ operation, credential, dataUrl: DATA_URL }),
    })),
  );
}

export function verificationSamples(): string {
  return sections(VERIFICATION_SAMPLES);
}

const FENCES: Readonly<Record<string, string>> = { curl: 'sh', javascript: 'js', node: 'js' };

function sections(samples: readonly { id: string; label: string; note: string; sample: string }[]): string {
  return samples
    .map(
      ({ id, label, note, sample }) =>
        `### ${label}\n\n${note}\n\n\`\`\`${FENCES[id] ?? id} sample\n${sample}\`\`\``,
    )
    .join('\n\n');
}
