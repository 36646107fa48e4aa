import { UNWRITABLE, jsonOf, unicodeEscape } from './operation.ts';
import type { Credential, Operation, SampleInput } from './operation.ts';

/** A template literal without substitutions, so that a query keeps its lines. */
export function templateLiteral(text: string): string {
  const escaped = text
    .replace(/[\\`]|\$(?=\{)/g, (character) => `\\${character}`)
    .replace(/<(?=[/!])/g, '\\x3c')
    .replace(UNWRITABLE, unicodeEscape);
  return `\`${escaped}\``;
}

/** JSON is an expression, but a member `__proto__` would not be a member. */
export function jsonExpression(value: unknown): string {
  const json = jsonOf(value, 2);
  return json.includes('"__proto__"') ? `JSON.parse(${templateLiteral(json)})` : json;
}

export function javascriptSample(input: SampleInput): string {
  return input.operation.isSubscription ? subscription(input) : call(input);
}

function call({ operation, credential, dataUrl }: SampleInput): string {
  return `${tokenOf(credential)}
${bodyOf(operation)}
const response = await fetch(${jsonOf(dataUrl)}, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', Authorization: \`Bearer \${token}\` },
  body: JSON.stringify(body),
});
console.log(JSON.stringify(await response.json(), null, 2));
`;
}

function subscription({ operation, credential, dataUrl }: SampleInput): string {
  return `${tokenOf(credential)}
${bodyOf(operation)}
const socket = new WebSocket(${jsonOf(dataUrl.replace(/^http/, 'ws'))}, 'graphql-transport-ws');
const send = (message) => socket.send(JSON.stringify(message));
socket.onopen = () => send({ type: 'connection_init', payload: { token } });
socket.onmessage = ({ data }) => {
  const { type, payload } = JSON.parse(data);
  if (type === 'connection_ack') send({ id: '1', type: 'subscribe', payload: body });
  if (type === 'ping') send({ type: 'pong' });
  if (type === 'next') console.log(JSON.stringify(payload));
  if (type === 'error') console.error(JSON.stringify(payload));
  if (type === 'complete' || type === 'error') socket.close(1000);
};
socket.onclose = ({ code, reason }) => console.error('Closed:', code, reason);
`;
}

function tokenOf(credential: Credential): string {
  if (credential.kind === 'token') return `const token = ${jsonOf(credential.token)};`;
  return `const grant = await fetch(${jsonOf(credential.tokenUrl)}, {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    scope: 'api',
    client_id: ${jsonOf(credential.clientId)},
    client_secret: ${jsonOf(credential.clientSecret)},
  }),
});
const { access_token: token } = await grant.json();`;
}

function bodyOf({ query, operationName, variables }: Operation): string {
  const members = [
    `  query: ${templateLiteral(query)},`,
    ...(operationName === null ? [] : [`  operationName: ${jsonOf(operationName)},`]),
    ...(variables === undefined
      ? []
      : [`  variables: ${jsonExpression(variables).replaceAll('\n', '\n  ')},`]),
  ];
  return `const body = {\n${members.join('\n')}\n};\n`;
}
