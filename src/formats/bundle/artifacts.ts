import type { StoredEvent } from '../../kernel/event.ts';
import { entryOf } from '../../kernel/journal.ts';
import type { ReadSession } from '../../kernel/ports.ts';
import type { World } from '../../kernel/verb.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import type { RedactionPolicy } from '../../lib/redaction-policy.ts';
import { sha256Bytes } from '../../lib/sha256.ts';
import { relativePathProblem } from './names.ts';

/** The files that a session has made, by their digests. */

/** Most bytes of files that go into one bundle: its own limit is above that. */
const mostContent = 32 * 1024 * 1024;

/** Most files that are named. */
const mostArtifacts = 2000;

/**
 * The artifacts on record and the evidence of a session, as they are now; what is not there any more as it was noted. Their
 * bytes come along where that is asked for, but of none that holds a secret: it would not be the same file without.
 */
export const gatherArtifacts = async (
  world: World,
  { row, view }: ReadSession,
  folder: string,
  {
    withContent,
    policy,
    events,
  }: {
    readonly withContent: boolean;
    readonly policy: RedactionPolicy | undefined;
    /** All of its events, where they were read already. */
    readonly events?: readonly StoredEvent[] | undefined;
  },
): Promise<{ readonly artifacts: readonly JsonObject[]; readonly warnings: readonly string[] }> => {
  const home = world.places.homeOf(row);
  const noted = (events ?? (await world.store.events(row.key, { types: ['Noted'], until: row.seq })))
    .filter(({ type }) => type === 'Noted')
    .map((event) => entryOf(event))
    .filter(({ type, file }) => type === 'artifact' && file !== undefined && file !== null);
  const known = new Map(noted.map(({ path, text, file }) => [path ?? text, file ?? undefined]));
  for (const { path, atLeast } of view.evidence) if (atLeast === undefined) known.set(`${folder}/${path}`, undefined);
  const warnings: string[] = [];
  const artifacts: JsonObject[] = [];
  const project = await world.project();
  let left = mostContent;
  for (const [path, recorded] of [...known].slice(-mostArtifacts)) {
    const now = home.isElsewhere === true ? undefined : world.files.digest(home.root, path);
    const is = now ?? recorded;
    if (is === undefined) continue;
    if (relativePathProblem(path) !== undefined || (policy !== undefined && policy.redact(path).text !== path)) {
      warnings.push('ARTIFACT: one was left out: its path is none that can be handed on');
      continue;
    }
    const bytes = withContent && now !== undefined ? project.bytes(home.root, path, left) : undefined;
    if (withContent && bytes?.ok !== true)
      warnings.push(
        `ARTIFACT: ${path} goes without its content: it ${bytes?.error.problem ?? 'is not there any more'}`,
      );
    const content = bytes?.ok === true ? bytes.value : undefined;
    const holdsSecret = content !== undefined && policy !== undefined && hasSecret(policy, content);
    if (holdsSecret) warnings.push(`ARTIFACT: ${path} goes without its content: it holds a secret`);
    const taken = holdsSecret ? undefined : content;
    left -= taken?.length ?? 0;
    artifacts.push({
      path,
      sha256: taken === undefined ? is.sha256 : sha256Bytes(taken),
      size: taken?.length ?? is.size,
      content_base64: taken === undefined ? null : Buffer.from(taken).toString('base64'),
    });
  }
  if (known.size > mostArtifacts) warnings.push(`ARTIFACT: ${known.size - mostArtifacts} more are not named`);
  return { artifacts, warnings };
};

/** Whether there is something to take out of bytes, be they text or not. */
const hasSecret = (policy: RedactionPolicy, bytes: Uint8Array): boolean => {
  const text = Buffer.from(bytes).toString('utf8');
  return policy.redact(text).text !== text;
};
