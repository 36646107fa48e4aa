import type { IncomingMessage } from 'node:http';
import { Problem } from '@tollgate/http/problem';
import { fieldValues, singleValue } from '@tollgate/http/request-head';
import type { TrustsAddress } from '@tollgate/http/caller-address';

/**
 * Against DNS rebinding: a page whose name was made to lead here has its own Host and Origin.
 * @throws {Problem} forbidden
 */
export type AssertOrigin = (req: Pick<IncomingMessage, 'rawHeaders' | 'socket'>) => void;

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

export function createAssertOrigin(options: {
  streamingUrl: string;
  allowsOrigin: ((origin: string) => boolean) | null;
  trusts: TrustsAddress;
}): AssertOrigin {
  const own = new URL(options.streamingUrl);
  const isOwnHost = (host: string) => {
    const given = URL.canParse(`${own.protocol}//${host}`) ? new URL(`${own.protocol}//${host}`) : null;
    if (given === null) return false;
    if (given.host === own.host) return true;
    // Each name of a machine for itself.
    return LOOPBACK.has(own.hostname) && LOOPBACK.has(given.hostname) && given.port === own.port;
  };
  const isOwnOrigin = (origin: string) => {
    const given = URL.canParse(origin) ? new URL(origin) : null;
    return given?.protocol === own.protocol && given.origin === origin && isOwnHost(given.host);
  };

  return ({ rawHeaders, socket }) => {
    const forwarded = options.trusts(socket.remoteAddress)
      ? singleValue(rawHeaders, 'x-forwarded-host')
      : undefined;
    const host = forwarded ?? singleValue(rawHeaders, 'host') ?? '';
    if (!isOwnHost(host)) throw new Problem('forbidden', { detail: 'The host is not one of this server.' });
    const origins = fieldValues(rawHeaders, 'origin');
    if (origins.every((origin) => isOwnOrigin(origin) || options.allowsOrigin?.(origin) === true)) return;
    throw new Problem('forbidden', { detail: 'The origin is not allowed.' });
  };
}
