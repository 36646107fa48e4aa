import { bodyOf, unicodeEscape } from './operation.ts';
import type { Credential, SampleInput } from './operation.ts';

const LINE_MAX = 90;

/**
 * A string literal, in parts of at most a line, of a text without control characters. A doubled backslash begins no
 * Unicode escape of Java.
 */
export function javaString(text: string): string {
  const parts = text.match(new RegExp(`.{1,${String(LINE_MAX)}}`, 'gsu')) ?? [''];
  return parts
    .map((part) => `"${part.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)
    .join('\n            + ');
}

/** JSON in ASCII: Java 17 reads a source file in the encoding of the system. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(/[^ -~]/g, unicodeEscape);
}

/** Needs nothing but Java 17 or newer. */
export function javaSample(input: SampleInput): string {
  const { operation, credential } = input;
  const imports = [
    ...(credential.kind === 'client' ? ['java.net.URLEncoder'] : []),
    'java.net.URI',
    'java.net.http.HttpClient',
    'java.net.http.HttpRequest',
    'java.net.http.HttpResponse',
    ...(operation.isSubscription
      ? [
          'java.net.http.WebSocket',
          'java.util.concurrent.CompletableFuture',
          'java.util.concurrent.CompletionStage',
        ]
      : []),
    ...(credential.kind === 'client'
      ? ['java.nio.charset.StandardCharsets', 'java.util.regex.Matcher', 'java.util.regex.Pattern']
      : []),
  ];
  const used = operation.isSubscription && credential.kind === 'token' ? withoutRequests(imports) : imports;
  return `${used
    .toSorted()
    .map((name) => `import ${name};`)
    .join('\n')}

public class Sample {
    public static void main(String[] arguments) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
${tokenOf(credential)}
        String body = ${javaString(asciiJson(bodyOf(operation)))};
${operation.isSubscription ? `${subscription(input)}${IS_TYPE}` : call(input)}}
`;
}

function withoutRequests(imports: readonly string[]): string[] {
  return imports.filter((name) => !/\.Http(?:Request|Response)$/.test(name));
}

function call({ dataUrl }: SampleInput): string {
  return `
        HttpRequest request = HttpRequest.newBuilder(URI.create(${javaString(dataUrl)}))
            .header("Authorization", "Bearer " + token)
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        System.out.println(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
    }
`;
}

const IS_TYPE = `
    private static boolean is(String type, String message) {
        return message.matches("(?s)\\\\{(\\"id\\":\\"1\\",)?\\"type\\":\\"(" + type + ")\\".*");
    }
`;

function subscription({ dataUrl }: SampleInput): string {
  return `        CompletableFuture<Void> end = new CompletableFuture<>();
        client.newWebSocketBuilder()
            .subprotocols("graphql-transport-ws")
            .buildAsync(URI.create(${javaString(dataUrl.replace(/^http/, 'ws'))}), new WebSocket.Listener() {
                private final StringBuilder message = new StringBuilder();

                public void onOpen(WebSocket socket) {
                    String init = "{\\"type\\":\\"connection_init\\",\\"payload\\":{\\"token\\":\\"" + token + "\\"}}";
                    socket.sendText(init, true);
                    socket.request(1);
                }

                public CompletionStage<?> onText(WebSocket socket, CharSequence data, boolean last) {
                    message.append(data);
                    if (last) {
                        String text = message.toString();
                        message.setLength(0);
                        if (is("connection_ack", text)) {
                            socket.sendText("{\\"id\\":\\"1\\",\\"type\\":\\"subscribe\\",\\"payload\\":" + body + "}", true);
                        } else if (is("ping", text)) {
                            socket.sendText("{\\"type\\":\\"pong\\"}", true);
                        } else {
                            System.out.println(text);
                            if (is("complete|error", text)) {
                                socket.sendClose(WebSocket.NORMAL_CLOSURE, "");
                            }
                        }
                    }
                    socket.request(1);
                    return null;
                }

                public CompletionStage<?> onClose(WebSocket socket, int code, String reason) {
                    System.err.println("Closed: " + code + " " + reason);
                    end.complete(null);
                    return null;
                }

                public void onError(WebSocket socket, Throwable error) {
                    end.completeExceptionally(error);
                }
            });
        end.get();
    }
`;
}

function tokenOf(credential: Credential): string {
  if (credential.kind === 'token') return `        String token = ${javaString(credential.token)};`;
  return `        String form = "grant_type=client_credentials&scope=api"
            + "&client_id=" + URLEncoder.encode(${javaString(credential.clientId)}, StandardCharsets.UTF_8)
            + "&client_secret=" + URLEncoder.encode(${javaString(credential.clientSecret)}, StandardCharsets.UTF_8);
        HttpRequest grant = HttpRequest.newBuilder(URI.create(${javaString(credential.tokenUrl)}))
            .header("Content-Type", "application/x-www-form-urlencoded")
            .POST(HttpRequest.BodyPublishers.ofString(form))
            .build();
        String granted = client.send(grant, HttpResponse.BodyHandlers.ofString()).body();
        Matcher found = Pattern.compile("\\"access_token\\":\\"([^\\"]+)\\"").matcher(granted);
        if (!found.find()) throw new IllegalStateException(granted);
        String token = found.group(1);`;
}
