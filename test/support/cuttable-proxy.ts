/** A line to a PostgreSQL server that can be cut, between any two messages. */
import type { Socket } from 'node:net';
import { acceptClients, connectTo, isCommit, isIdle, listenFor, splitFrames } from './pg-frames.ts';

/** What becomes of the next commit: it never arrives; it is carried out, and nobody hears of it; nothing is said any more. */
export type CommitFate = 'lost' | 'unheard' | 'silent';

/** A line to a server. */
export interface CuttableProxy {
  /** The address of the server through this line. */
  readonly url: string;
  /** Cuts all connections. */
  readonly cut: () => void;
  /** Whether new connections are turned away. */
  readonly refuse: (isRefusing: boolean) => void;
  /** What is swallowed from now on, in connections old and new, without a word. */
  readonly swallow: (direction: 'to-server' | 'to-client' | 'both' | 'nothing') => void;
  /** Decides about the next commits, one after the other; `done` is called when one was met. */
  readonly meetCommit: (fate: CommitFate, done?: () => void) => void;
  /** How many connections there were. */
  readonly count: () => number;
  readonly close: () => void;
}

/** Opens a line to the server of an address. */
export const openProxy = async (url: string): Promise<CuttableProxy> => {
  const sockets = new Set<Socket>();
  const fates: { readonly fate: CommitFate; readonly done: () => void }[] = [];
  let isRefusing = false;
  let swallowed = 'nothing';
  let connections = 0;
  const swallows = (direction: string): boolean => swallowed === direction || swallowed === 'both';

  const server = acceptClients((client) => {
    if (isRefusing) {
      client.resetAndDestroy();
      return;
    }
    connections += 1;
    const backend = connectTo(url);
    const cut = (): void => {
      client.resetAndDestroy();
      backend.destroy();
    };
    let met: (typeof fates)[number] | undefined;
    let isSilent = false;
    const close = (socket: Socket): void => {
      sockets.delete(socket);
      // Who swallows does not tell the other side that somebody has gone.
      if (swallowed === 'nothing' && !isSilent) cut();
    };
    for (const socket of [client, backend]) sockets.add(socket.on('close', () => close(socket)));
    const split = splitFrames(true);
    client.on('data', (chunk: Buffer) => {
      for (const frame of split(chunk)) {
        if (isSilent || swallows('to-server')) continue;
        const next = isCommit(frame) ? fates.shift() : undefined;
        if (next?.fate === 'lost') {
          cut();
          next.done();
          return;
        }
        if (next?.fate === 'silent') {
          isSilent = true;
          next.done();
          continue;
        }
        met = next ?? met;
        backend.write(frame.bytes);
      }
    });
    const splitAnswers = splitFrames(false);
    backend.on('data', (chunk: Buffer) => {
      const isDone = splitAnswers(chunk).some(isIdle);
      if (met !== undefined) {
        // What was sent before the commit may be answered first.
        if (!isDone) return;
        cut();
        met.done();
        met = undefined;
      } else if (!isSilent && !swallows('to-client')) client.write(chunk);
    });
  });
  const through = await listenFor(url, server);
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: through,
    cut: cutAll,
    refuse: (now) => {
      isRefusing = now;
    },
    swallow: (direction) => {
      swallowed = direction;
    },
    meetCommit: (fate, done = () => {}) => void fates.push({ fate, done }),
    count: () => connections,
    close: () => {
      server.close();
      cutAll();
    },
  };
};
