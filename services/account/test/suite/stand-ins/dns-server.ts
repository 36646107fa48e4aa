import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Knows the names that a suite adds, and answers NXDOMAIN for all others. */
export type DnsServer = {
  /** For WEBHOOK_DNS_SERVERS. */
  address: string;
  /** IPv4 addresses by name; a suite may change them at any time. */
  names: Map<string, string[]>;
  /** Names of IPv4 queries. */
  asked: string[];
  close: () => Promise<void>;
};

const A = 1;

export async function startDnsServer(): Promise<DnsServer> {
  const names = new Map<string, string[]>();
  const asked: string[] = [];
  const socket = createSocket('udp4', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    const isA = query.readUInt16BE(at + 1) === A;
    if (isA) asked.push(name);
    const addresses = names.get(name);
    const answers = isA ? (addresses ?? []) : [];
    socket.send(
      Buffer.concat([
        head(query, answers.length, addresses),
        query.subarray(12, at + 5),
        ...answers.map(record),
      ]),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${String(socket.address().port)}`,
    names,
    asked,
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** RFC 1035, 4.1.1: a response with recursion available; NXDOMAIN for an unknown name. */
function head(query: Buffer, answers: number, known: readonly string[] | undefined): Buffer {
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers, 6);
  return header;
}

/** An address for the question's name, with a TTL of 0. */
function record(address: string): Buffer {
  const header = Buffer.from([0xc0, 0x0c, 0, A, 0, 1, 0, 0, 0, 0, 0, 4]);
  return Buffer.concat([header, Buffer.from(address.split('.').map(Number))]);
}
