import { startTcpRelay } from '@tollgate/testbed/tcp-relay';

/** A proxy to Postgres that passes no startup options on, as PgBouncer does with `ignore_startup_parameters = options`. */
export type ForgetfulPooler = {
  url: string;
  /** Until then, options are passed on. */
  forget: () => void;
  close: () => Promise<void>;
};

export async function startForgetfulPooler(targetUrl: string): Promise<ForgetfulPooler> {
  let forgets = false;
  const relay = await startTcpRelay(targetUrl, (_client, postgres) => {
    let isStartup = true;
    return {
      toServer: (bytes) => {
        postgres.write(isStartup && forgets ? withoutOptions(bytes) : bytes);
        isStartup = false;
      },
    };
  });
  return {
    url: relay.url,
    forget: () => {
      forgets = true;
    },
    close: relay.close,
  };
}

/** A StartupMessage: its length, the protocol's version, then names and values, each ended by a zero byte. */
function withoutOptions(startup: Buffer): Buffer {
  const parameters = startup.subarray(8).toString('utf8').split('\0');
  const at = parameters.findIndex((name, index) => index % 2 === 0 && name === 'options');
  if (at >= 0) parameters.splice(at, 2);
  const kept = Buffer.from(parameters.join('\0'));
  const head = Buffer.from(startup.subarray(0, 8));
  head.writeInt32BE(head.length + kept.length);
  return Buffer.concat([head, kept]);
}
