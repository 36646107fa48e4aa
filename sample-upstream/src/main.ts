import type { AddressInfo } from 'node:net';
import { createApp } from './app.ts';
import { ConfigError, loadConfig } from './config.ts';

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

function configOrExit() {
  try {
    return loadConfig();
  } catch (error) {
    if (error instanceof ConfigError) fail(error.message);
    throw error;
  }
}

const { host, port, shutdownDelayMs } = configOrExit();
const { server, close } = createApp();

server.once('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EADDRINUSE') throw error;
  fail(
    `Port ${String(port)} on ${host} is taken by another process. End that process, or set PORT to a free port.`,
  );
});
server.listen(port, host, () => {
  const { port: actual } = server.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ message: 'listening', host, port: actual })}\n`);
});

let stopping = false;
function stop(): void {
  if (stopping) return;
  stopping = true;
  void close(shutdownDelayMs).then(() => process.exit(0));
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
