import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { onTestFinished } from 'vitest';

/** A name server on loopback, closed after the test. */
export interface NameServer {
  /** Its address in the form that `openNetwork` takes. */
  server: string;
  /** Requested names, in order. */
  asked: string[];
}

const TYPE_A = 1;

/**
 * Opens a name server that answers with the IPv4 addresses that `find` returns. Undefined: it never answers. Null:
 * there is no such name. It has no IPv6 addresses.
 */
export async function openNameServer(find: (name: string) => string[] | null | undefined): Promise<NameServer> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  onTestFinished(() => {
    socket.close();
  });
  socket.on('message', (query, { port, address }) => {
    const { name, end } = readName(query);
    asked.push(name);
    const found = find(name);
    if (found !== undefined) socket.send(buildAnswer(query.subarray(0, end), found), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return { server: `127.0.0.1:${socket.address().port}`, asked };
}

/** Reads the name of a question (RFC 1035 section 4.1.2), and the end of the question. */
function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 5 };
}

function buildAnswer(question: Buffer, found: string[] | null): Buffer {
  const isA = question.readUInt16BE(question.length - 4) === TYPE_A;
  const records = isA ? (found ?? []) : [];
  const head = Buffer.from(question);
  head.writeUInt16BE(found === null ? 0x8183 : 0x8180, 2);
  head.writeUInt16BE(records.length, 6);
  // No further records, although the question may have one.
  head.writeUInt32BE(0, 8);
  return Buffer.concat([
    head,
    ...records.map((address) =>
      Buffer.from([0xc0, 12, 0, TYPE_A, 0, 1, 0, 0, 0, 60, 0, 4, ...address.split('.').map(Number)]),
    ),
  ]);
}
