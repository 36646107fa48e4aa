import { once } from 'node:events';
import { connect } from 'node:net';

/** Stalls within the body and resolves with all that comes back until the server ends the connection. */
export async function stalledRequest(
  baseUrl: string,
  path: string,
  headers: Readonly<Record<string, string>>,
): Promise<string> {
  const { hostname, port, host } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  let received = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => (received += chunk));
  const lines = Object.entries({ host, 'content-length': '1000', ...headers });
  socket.write(
    `POST ${path} HTTP/1.1\r\n${lines.map((line) => line.join(': ')).join('\r\n')}\r\n\r\nthe first bytes`,
  );
  await once(socket, 'close');
  return received;
}
