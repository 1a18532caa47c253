import * as v from 'valibot';
import { ok } from '../lib/result.ts';
import { defineKind, type Kind } from './kind.ts';
import { noProgress } from './view.ts';

/** A kind that this program does not know: its sessions are shown as far as the kernel goes, and not written. */
export const unknownKind = (name: string): Kind =>
  defineKind({
    name,
    summary: 'a kind that this program does not know',
    stateVersion: 0,
    commands: v.never(),
    events: v.never(),
    eventVersions: {},
    initial: null,
    evolve: (state) => state,
    decide: () => ok([]),
    view: () => ({
      position: '?',
      where: {},
      fields: {},
      remaining: [],
      missing: ['what its kind demands is not known to this program'],
      next: { kind: 'none', text: 'Use the newer stint that wrote it.', command: null },
      evidence: [],
    }),
    progress: () => noProgress,
    folder: (session) => session,
    mirrors: () => [],
    examples: [],
  });
