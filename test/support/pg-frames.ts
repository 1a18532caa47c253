/** What PostgreSQL's clients and servers send each other, message by message. */
import { createServer, connect, type Server, type Socket } from 'node:net';
import { once } from 'node:events';

/** One message: its type, empty for the one with which a client begins, and all of its bytes. */
export interface Frame {
  readonly type: string;
  readonly bytes: Buffer;
}

/** Takes a stream apart: each chunk gives the messages that are whole with it. */
export const splitFrames = (isClient: boolean): ((chunk: Buffer) => readonly Frame[]) => {
  let rest: Buffer = Buffer.alloc(0);
  let isBegun = !isClient;
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const frames: Frame[] = [];
    for (;;) {
      const head = isBegun ? 1 : 0;
      if (rest.length < head + 4) return frames;
      const length = head + rest.readInt32BE(head);
      if (rest.length < length) return frames;
      frames.push({ type: isBegun ? String.fromCodePoint(rest[0] ?? 0) : '', bytes: rest.subarray(0, length) });
      rest = rest.subarray(length);
      isBegun = true;
    }
  };
};

/** Whether a message asks for a commit. */
export const isCommit = ({ type, bytes }: Frame): boolean => type === 'Q' && bytes.toString('utf8', 5) === 'COMMIT\0';

/** Whether a message says that the server waits for the next one, outside of any transaction. */
export const isIdle = ({ type, bytes }: Frame): boolean => type === 'Z' && bytes[5] === 'I'.codePointAt(0);

/** A connection to the server of an address; that it is lost is seen when it closes. */
export const connectTo = (url: string): Socket => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  socket.on('error', () => {});
  return socket;
};

/** Listens on loopback; answers the same address with the port of it. */
export const listenFor = async (url: string, server: Server): Promise<string> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  const through = new URL(url);
  through.port = String(address.port);
  return through.href;
};

/** A server that hands each client to somebody; that one is lost is seen when it closes. */
export const acceptClients = (accept: (client: Socket) => void): Server =>
  createServer((client) => {
    client.setNoDelay(true).on('error', () => {});
    accept(client);
  });
