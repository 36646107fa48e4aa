import { UNWRITABLE, jsonOf, unicodeEscape } from './operation.ts';
import type { Credential, Operation, SampleInput } from './operation.ts';

/** A triple-quoted string, so that a query keeps its lines. */
export function tripleQuoted(text: string): string {
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replace(/"(?="|$)/g, '\\"')
    .replace(UNWRITABLE, unicodeEscape);
  return `"""${escaped}"""`;
}

/** Needs nothing but Python. A subscription is read as server-sent events. */
export function pythonSample({ operation, credential, dataUrl }: SampleInput): string {
  const accept = operation.isSubscription ? '\n        "Accept": "text/event-stream",' : '';
  const imports = ['import json', ...(credential.kind === 'client' ? ['import urllib.parse'] : [])];
  return `${imports.join('\n')}
import urllib.error
import urllib.request

${tokenOf(credential)}

body = ${bodyOf(operation)}

request = urllib.request.Request(
    ${jsonOf(dataUrl)},
    data=json.dumps(body).encode(),
    headers={
        "Content-Type": "application/json",
        "Authorization": f"Bearer {token}",${accept}
    },
)
try:
    response = urllib.request.urlopen(request)
except urllib.error.HTTPError as refusal:
    response = refusal
${operation.isSubscription ? EVENTS : RESULT}`;
}

const RESULT = 'print(json.dumps(json.load(response), indent=2))\n';

const EVENTS = `for line in response:
    if line.startswith(b"data: {"):
        print(line[6:].decode().rstrip())
`;

function tokenOf(credential: Credential): string {
  if (credential.kind === 'token') return `token = ${jsonOf(credential.token)}`;
  return `grant = urllib.parse.urlencode({
    "grant_type": "client_credentials",
    "scope": "api",
    "client_id": ${jsonOf(credential.clientId)},
    "client_secret": ${jsonOf(credential.clientSecret)},
})
token = json.load(urllib.request.urlopen(${jsonOf(credential.tokenUrl)}, grant.encode()))["access_token"]`;
}

function bodyOf({ query, operationName, variables }: Operation): string {
  const members = [
    `    "query": ${tripleQuoted(query)},`,
    ...(operationName === null ? [] : [`    "operationName": ${jsonOf(operationName)},`]),
    ...(variables === undefined
      ? []
      : [`    "variables": json.loads(${tripleQuoted(JSON.stringify(variables, null, 2))}),`]),
  ];
  return `{\n${members.join('\n')}\n}`;
}
