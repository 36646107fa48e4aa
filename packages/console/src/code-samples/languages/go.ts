import { UNWRITABLE, bodyOf } from './operation.ts';
import type { Credential, SampleInput } from './operation.ts';

/** An interpreted string literal, a line of the text per line. */
export function goString(text: string): string {
  return text
    .split(/(?<=\n)/)
    .map((line) => `"${escaped(line)}"`)
    .join(' +\n\t\t\t');
}

/** Go has no escape for half of a surrogate pair; JSON in UTF-8 can't hold one either. */
function escaped(line: string): string {
  return line
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replace(UNWRITABLE, (character) => {
      const isSurrogate = /[\ud800-\udfff]/.test(character);
      return `\\u${isSurrogate ? 'fffd' : character.charCodeAt(0).toString(16).padStart(4, '0')}`;
    });
}

/** Needs nothing but Go. A subscription is read as server-sent events. */
export function goSample({ operation, credential, dataUrl }: SampleInput): string {
  const { query, ...others } = bodyOf(operation);
  const rest = Object.entries(others).map(
    ([name, value]) => `\n\t\t"${name}": json.RawMessage(${goString(JSON.stringify(value))}),`,
  );
  const stream = operation.isSubscription ? '\n\trequest.Header.Set("Accept", "text/event-stream")' : '';
  const imports = ['bytes', 'encoding/json', 'io', 'log', 'net/http', 'os'];
  if (credential.kind === 'client') imports.splice(5, 0, 'net/url');
  return `package main

import (
${imports.map((name) => `\t"${name}"`).join('\n')}
)

func main() {
${tokenOf(credential)}

	body, err := json.Marshal(map[string]any{
		"query": ${goString(String(query))},${rest.join('')}
	})
	if err != nil {
		log.Fatal(err)
	}
	request, err := http.NewRequest("POST", ${goString(dataUrl)}, bytes.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")${stream}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.Copy(os.Stdout, response.Body); err != nil {
		log.Fatal(err)
	}
}
`;
}

function tokenOf(credential: Credential): string {
  if (credential.kind === 'token') return `\ttoken := ${goString(credential.token)}`;
  return `	grant, err := http.PostForm(${goString(credential.tokenUrl)}, url.Values{
		"grant_type":    {"client_credentials"},
		"scope":         {"api"},
		"client_id":     {${goString(credential.clientId)}},
		"client_secret": {${goString(credential.clientSecret)}},
	})
	if err != nil {
		log.Fatal(err)
	}
	var granted struct {
		AccessToken string \`json:"access_token"\`
	}
	if err := json.NewDecoder(grant.Body).Decode(&granted); err != nil {
		log.Fatal(err)
	}
	grant.Body.Close()
	token := granted.AccessToken`;
}
