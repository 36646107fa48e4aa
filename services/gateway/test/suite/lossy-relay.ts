import { startTcpRelay } from '@tollgate/testbed/tcp-relay';

export type LossyRelay = {
  port: number;
  /** Passes on a request that matches, drops its response and cuts the connection, once. */
  loseNextReplyTo: (request: RegExp) => void;
  /** The number of dropped responses. */
  lost: () => number;
  /** Holds all responses back until the returned function is called; connections stay open. */
  hold: () => () => void;
  close: () => Promise<void>;
};

/** A relay that fails after the server has acted, which leaves the client uncertain. */
export async function startLossyRelay(targetPort: number): Promise<LossyRelay> {
  let losing: RegExp | undefined;
  let lost = 0;
  let held: (() => void)[] | undefined;
  const { url, close } = await startTcpRelay(`tcp://127.0.0.1:${String(targetPort)}`, (client, target) => {
    let swallow = false;
    return {
      toServer: (bytes) => {
        if (losing?.test(bytes.toString('latin1')) === true) {
          losing = undefined;
          swallow = true;
        }
        target.write(bytes);
      },
      toClient: (bytes) => {
        if (swallow) {
          lost += 1;
          client.destroy();
        } else if (held === undefined) client.write(bytes);
        else held.push(() => client.write(bytes));
      },
    };
  });
  return {
    port: Number(new URL(url).port),
    loseNextReplyTo: (request) => {
      losing = request;
    },
    lost: () => lost,
    hold: () => {
      held = [];
      return () => {
        const replies = held ?? [];
        held = undefined;
        for (const reply of replies) reply();
      };
    },
    close,
  };
}
