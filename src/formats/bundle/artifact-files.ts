import type { Order } from '../../kernel/dispatch.ts';
import { loadKind } from '../../kernel/kinds.ts';
import { refuse, type Refusal } from '../../kernel/refusal.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { err, ok, type Result } from '../../lib/result.ts';
import type { BundledArtifact, BundledSession } from './parts.ts';

/** The files that come with a bundle: they are written where they lay, when somebody asks for it, and over nothing. */

/** Files that programs obey, by their names: no bundle brings one. */
const obeyed = /^(?:stint\.json|handoff-bundle-[a-z]+-policy\.json)$/i;

/** The artifacts that are to be written; refused is what lies outside, what programs obey, and what is there and is another file. */
export const artifactsToWrite = async (
  world: World,
  artifacts: readonly BundledArtifact[],
  session: Pick<BundledSession, 'kind' | 'name'> | undefined,
): Promise<Result<readonly BundledArtifact[], Refusal>> => {
  const { root } = world.places.here;
  const kind = session === undefined ? undefined : await loadKind(world.kinds, session.kind);
  const own = session === undefined || kind === undefined ? '/' : `${kind.folder(session.name)}/`;
  const project = await world.project();
  const faults: string[] = [];
  const wanted: BundledArtifact[] = [];
  for (const artifact of artifacts) {
    const { path, sha256, content } = artifact;
    const parts = (path.startsWith(own) ? path.slice(own.length) : path).split('/');
    const there = world.files.digest(root, path);
    if (parts.some((part) => part.startsWith('.') || obeyed.test(part)))
      faults.push(`${path} is no place for an artifact`);
    else if (there?.sha256 === sha256) continue;
    else if (content === undefined) faults.push(`${path} came without its content`);
    else if (there !== undefined || !project.isPlain(root, path))
      faults.push(`${path} is there already, and another file`);
    else wanted.push(artifact);
  }
  return faults.length === 0 ? ok(wanted) : err(refuseArtifacts(faults));
};

const refuseArtifacts = (faults: readonly string[]): Refusal =>
  refuse('conflict', `${faults.length} of the artifacts cannot be written: ${faults[0] ?? ''}.`, {
    expected: 'artifacts in the place of nothing, or of the same file',
    faults,
    hint: 'the same without --with-artifacts',
  });

/** The order that writes them ahead of its commit: they are there before anything says so. */
export const withArtifacts = (
  world: World,
  order: Order<JsonObject>,
  artifacts: readonly BundledArtifact[],
): Order<JsonObject> => {
  const told: Order<JsonObject> = {
    ...order,
    answer: (after, before) => ({
      ...order.answer(after, before),
      artifacts_written: artifacts.map(({ path }) => path),
    }),
  };
  const { work } = order;
  return {
    ...told,
    work: async () => {
      const project = await world.project();
      const { root } = world.places.here;
      for (const { path, sha256, content = new Uint8Array() } of artifacts) {
        const problem = project.create(root, path, content);
        if (problem === null) {
          // Somebody has put it there since it was looked for.
          if (world.files.digest(root, path)?.sha256 === sha256) continue;
          return err(refuseArtifacts([`${path} is there already, and another file`]));
        }
        if (problem !== undefined)
          return err(refuse('invariant-unmet', `${path} ${problem}.`, { expected: 'a file that may be written' }));
      }
      return work === undefined ? ok({ order: told, at: world.caller.now }) : work();
    },
  };
};
