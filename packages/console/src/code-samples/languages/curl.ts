import { bodyOf } from './operation.ts';
import type { SampleInput } from './operation.ts';

/** A word of a POSIX shell, in which nothing is expanded. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A subscription is read as server-sent events: curl can't speak WebSocket subprotocols. */
export function curlSample({ operation, credential, dataUrl }: SampleInput): string {
  const stream = operation.isSubscription ? ["  -H 'Accept: text/event-stream' -N"] : [];
  const call = [
    `curl ${shellWord(dataUrl)}`,
    '  -H "Authorization: Bearer $TOKEN"',
    "  -H 'Content-Type: application/json'",
    ...stream,
    `  --data-raw ${shellWord(JSON.stringify(bodyOf(operation)))}`,
  ].join(' \\\n');
  if (credential.kind === 'token') return `TOKEN=${shellWord(credential.token)}\n\n${call}\n`;
  const grant = [
    `TOKEN=$(curl -s ${shellWord(credential.tokenUrl)}`,
    '  -d grant_type=client_credentials -d scope=api',
    `  -d client_id=${shellWord(credential.clientId)}`,
    `  -d client_secret=${shellWord(credential.clientSecret)} |`,
  ].join(' \\\n');
  return `${grant}\n  sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')\n\n${call}\n`;
}
