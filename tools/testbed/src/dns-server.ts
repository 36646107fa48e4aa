import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Knows the names that a suite adds, and answers NXDOMAIN for all others. */
export type DnsServer = {
  /** For WEBHOOK_DNS_SERVERS and DNS_SERVERS. */
  address: string;
  /** IPv4 addresses by name; a suite may change them at any time. */
  names: Map<string, string[]>;
  /** TXT records by name, each a list of strings; a name with an empty list exists without one. */
  texts: Map<string, string[][]>;
  /** Names whose queries get no answer. */
  silent: Set<string>;
  /** Names of IPv4 queries. */
  asked: string[];
  close: () => Promise<void>;
};

const A = 1;
const TXT = 16;

export async function startDnsServer(): Promise<DnsServer> {
  const names = new Map<string, string[]>();
  const texts = new Map<string, string[][]>();
  const silent = new Set<string>();
  const asked: string[] = [];
  const socket = createSocket('udp4', (query, { port, address }) => {
    const labels: string[] = [];
    let at = 12;
    for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
      labels.push(query.toString('latin1', at + 1, at + 1 + length));
      at += 1 + length;
    }
    const name = labels.join('.').toLowerCase();
    if (silent.has(name)) return;
    const type = query.readUInt16BE(at + 1);
    if (type === A) asked.push(name);
    const isKnown = names.has(name) || texts.has(name);
    const answers =
      type === A
        ? (names.get(name) ?? []).map((found) => record(A, addressBytes(found)))
        : type === TXT
          ? (texts.get(name) ?? []).map((strings) => record(TXT, textBytes(strings)))
          : [];
    socket.send(
      Buffer.concat([head(query, answers.length, isKnown), query.subarray(12, at + 5), ...answers]),
      port,
      address,
    );
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${String(socket.address().port)}`,
    names,
    texts,
    silent,
    asked,
    close: async () => {
      socket.close();
      await once(socket, 'close');
    },
  };
}

/** RFC 1035, 4.1.1: a response with recursion available; NXDOMAIN for an unknown name. */
function head(query: Buffer, answers: number, isKnown: boolean): Buffer {
  const header = Buffer.alloc(12);
  query.copy(header, 0, 0, 2);
  header.writeUInt16BE(isKnown ? 0x8180 : 0x8183, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(answers, 6);
  return header;
}

/** For the question's name, with a TTL of 0. */
function record(type: number, value: Buffer): Buffer {
  const header = Buffer.from([0xc0, 0x0c, 0, type, 0, 1, 0, 0, 0, 0, 0, 0]);
  header.writeUInt16BE(value.length, 10);
  return Buffer.concat([header, value]);
}

function addressBytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

/** RFC 1035, 3.3.14: strings of at most 255 bytes, each after its length. */
function textBytes(strings: readonly string[]): Buffer {
  return Buffer.concat(strings.flatMap((text) => [Buffer.from([text.length]), Buffer.from(text, 'latin1')]));
}
