/** A pooler that gives every transaction to another connection of the server, and forgets what was said in one before. */
import type { Socket } from 'node:net';
import { acceptClients, connectTo, isIdle, listenFor, splitFrames, type Frame } from './pg-frames.ts';

/** A pooler before a server. */
export interface Pooler {
  /** The address of the server through the pooler. */
  readonly url: string;
  /** How many transactions were given to another connection than the one before. */
  readonly moves: () => number;
  /** What was found on connections after transactions, each state once. */
  readonly left: ReadonlySet<string>;
  readonly close: () => void;
}

/** A connection of the server that nobody has, or the client that has it. */
interface Backend {
  readonly socket: Socket;
  hear: (frame: Frame) => void;
}

/** What one transaction may leave to the next one on the same connection. */
const whatIsLeft = `SELECT concat_ws(' ', current_setting('search_path'), current_setting('lock_timeout'),
  current_setting('statement_timeout'), current_setting('idle_in_transaction_session_timeout'),
  (SELECT count(*) FROM pg_prepared_statements), (SELECT count(*) FROM pg_cursors),
  (SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'))`;

/** Opens a pooler before the server of an address, where nobody is asked for a password. */
export const openPooler = async (url: string): Promise<Pooler> => {
  const sockets = new Set<Socket>();
  const idle: Backend[] = [];
  const left = new Set<string>();
  let moves = 0;

  const add = (startup: Frame, hear: (frame: Frame) => void): Backend => {
    const socket = connectTo(url);
    sockets.add(socket);
    const backend: Backend = { socket, hear };
    const split = splitFrames(false);
    socket.on('data', (chunk: Buffer) => {
      for (const frame of split(chunk)) backend.hear(frame);
    });
    socket.write(startup.bytes);
    return backend;
  };

  /** Looks at what a transaction has left, forgets it, and gives the connection back. */
  const giveBack = (backend: Backend): void => {
    const questions = [whatIsLeft, 'DISCARD ALL'];
    let answered = 0;
    backend.hear = (frame) => {
      // The server goes, or the database does.
      if (frame.type === 'E') backend.socket.destroy();
      if (frame.type === 'D') left.add(frame.bytes.toString('utf8', 11));
      if (!isIdle(frame)) return;
      answered += 1;
      if (answered < questions.length) return;
      idle.push(backend);
      for (const wait of waiting.splice(0)) wait();
    };
    for (const question of questions) {
      const text = Buffer.from(`${question}\0`);
      const head = Buffer.from('Q\0\0\0\0');
      head.writeInt32BE(text.length + 4, 1);
      backend.socket.write(Buffer.concat([head, text]));
    }
  };
  const waiting: (() => void)[] = [];

  const server = acceptClients((client) => {
    sockets.add(client);
    const split = splitFrames(true);
    const queue: Frame[] = [];
    let current: Backend | undefined;
    let last: Backend | undefined;
    const send = (): void => {
      if (queue.length === 0 || client.destroyed) return;
      if (current === undefined) {
        const index = idle.findIndex((backend) => backend !== last);
        if (index === -1) {
          waiting.push(send);
          return;
        }
        const [backend] = idle.splice(index, 1);
        if (backend === undefined) return;
        current = backend;
        if (last !== undefined) moves += 1;
        last = backend;
        backend.hear = (frame) => {
          if (!isIdle(frame)) return void client.write(frame.bytes);
          // Whoever does not wait for this sends to a connection that is about to be given back, and is never answered.
          const behind: Frame[] = [];
          backend.hear = (next) => void behind.push(next);
          setTimeout(() => {
            client.write(frame.bytes);
            current = undefined;
            giveBack(backend);
            for (const next of behind) backend.hear(next);
            send();
          }, 5);
        };
      }
      for (const frame of queue.splice(0)) current.socket.write(frame.bytes);
    };
    client.on('data', (chunk: Buffer) => {
      for (const frame of split(chunk)) {
        if (frame.type === '') {
          // The first connection answers the client itself; two more are there for its transactions.
          const greeter = add(frame, (said) => {
            client.write(said.bytes);
            if (isIdle(said)) giveBack(greeter);
          });
          const other = add(frame, (said) => {
            if (isIdle(said)) giveBack(other);
          });
        } else if (frame.type !== 'X') queue.push(frame);
      }
      send();
    });
  });
  return {
    url: await listenFor(url, server),
    moves: () => moves,
    left,
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};
