import { objectAt, objectsAt, textAt, textsAt } from '../../kernel/answer.ts';
import type { Blocker, Entry } from '../../kernel/journal.ts';
import type { OutsideLook } from '../../kernel/outside.ts';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { oneLine, shellWord, truncate } from '../../lib/text.ts';
import { agoText } from '../../lib/ago.ts';
import { clockSkew } from '../../lib/time.ts';
import { bodyOf, valueOf } from './document.ts';
import type { LeaseFile } from './lease-file.ts';
import { pathsNamed } from './named-files.ts';
import type { Requirement } from './requirements.ts';
import { leaseToJson } from './summary.ts';
import { blockersIn } from './take-in.ts';
import { labelled, listItems } from './values.ts';
import type { Examined } from './workspace.ts';

/** Whether work can be handed over as it stands, and what keeps it from that. */

/** What is known when that is judged. */
export interface ReadyFacts {
  readonly root: string;
  /** What `handoff report` says. */
  readonly report: JsonObject;
  /** The two documents; undefined where no pair can be told. */
  readonly handover: Examined | undefined;
  readonly sessionState: Examined | undefined;
  /** What the file of the lease says. */
  readonly leaseFile: LeaseFile;
  /** What the session says that they describe; undefined where they stand alone. */
  readonly session: SessionSaid | undefined;
  /** When a file that is named was changed, in milliseconds; undefined where there is none. */
  readonly changedAt: (path: string) => number | undefined;
  readonly secrets: readonly Secret[];
  /** Files that are not what their session says, with what helps. */
  readonly stale: readonly { readonly text: string; readonly command: string }[];
  /** What is changed in the checkout beside the documents; undefined where it is not under version control. */
  readonly tree: OutsideLook | undefined;
  readonly required: ReadonlySet<Requirement>;
  readonly now: string;
  readonly actor: string;
  /** The flags that name the root again, with a blank before them; empty where it is the usual one. */
  readonly where: { readonly root: string; readonly pair: string };
}

/** What a session says beside its documents. */
export interface SessionSaid {
  readonly key: string;
  /** Who holds it; undefined where nobody does. */
  readonly lease: SessionLease | undefined;
  readonly blockers: readonly Blocker[];
  /** The steps of which nobody knows what their last attempt has done. */
  readonly doubts: readonly string[];
  readonly validation: Entry | undefined;
  /** Whether the evidence of that validation is not what it was any more. */
  readonly hasOtherEvidence: boolean;
  /** The files that its journal names and that were there then. */
  readonly files: readonly string[];
  /** Those that its work is to leave, and that need not be there yet. */
  readonly awaited: readonly string[];
  /** The documents of the pairs that were archived of it, by their paths from the root. */
  readonly archived: readonly string[];
  /** What stands in the documents and is not known to it yet, a line each. */
  readonly edits: readonly string[];
}

/** A lease as `handoff lease` shows it. */
export interface SessionLease {
  readonly state: 'active' | 'stale' | 'expired';
  readonly holder: string;
  readonly host: string;
  readonly purpose: string | null;
  readonly acquiredAt: string;
  readonly expiresAt: string;
}

/** A section that holds what must not be handed on. */
export interface Secret {
  readonly path: string;
  readonly section: string;
  readonly line: number;
  readonly rules: readonly string[];
}

/** Why work is not ready, or what is to be known; with the command that clears it, or says whether an edit has. */
interface Reason {
  readonly code: string;
  readonly text: string;
  readonly command: string;
  readonly severity: 'blocking' | 'warning' | 'note';
}

/** How old a state may be before that is told, in milliseconds. */
const old = 30 * 86_400_000;

/** The verdict with its reasons, the gravest first, under the names of the original. */
export const readyToJson = (facts: ReadyFacts): JsonObject => {
  const { root, report, session, leaseFile } = facts;
  const reasons = reasonsOf(facts);
  const of = (severity: Reason['severity']): readonly Reason[] => reasons.filter((one) => one.severity === severity);
  const [blocking, warnings, notes] = [of('blocking'), of('warning'), of('note')];
  const verdict = blocking.length > 0 ? 'not-ready' : warnings.length > 0 ? 'ready-with-warnings' : 'ready';
  const texts = (some: readonly Reason[]): string[] => [...new Set(some.map(({ text }) => text))];
  const summary = objectAt(report, 'summary');
  return {
    docs_root: root,
    verdict,
    ready: blocking.length === 0,
    task: textAt(summary, 'task') || 'None',
    status: textAt(summary, 'status') || 'None',
    next_owner: textAt(summary, 'next_owner') || 'None',
    session: session?.key ?? null,
    lease: leaseToJson(session?.lease === undefined ? leaseFile : { ...leaseFile, ...session.lease }),
    reasons: [...blocking, ...warnings, ...notes].map((reason) => ({ ...reason })),
    blocking_reasons: texts(blocking),
    warnings: texts(warnings),
    next_actions: [...new Set([...blocking, ...warnings].map(({ command }) => command))],
    report,
  };
};

const reasonsOf = (facts: ReadyFacts): readonly Reason[] => {
  const { handover, sessionState, stale } = facts;
  // Files that are gone are told with what brings them back.
  const unpaired = stale.length > 0 ? [] : [noPair(facts)];
  const ofDocuments =
    handover === undefined || sessionState === undefined
      ? unpaired
      : [doneOf, blockersOf, filesOf, validationOf, timeOf].flatMap((ofThem) =>
          ofThem(facts, { handover, sessionState }),
        );
  return [
    ...auditOf(facts),
    ...leaseOf(facts),
    ...sessionOf(facts),
    ...ofDocuments,
    ...secretsOf(facts),
    ...treeOf(facts),
  ];
};

interface Documents {
  readonly handover: Examined;
  readonly sessionState: Examined;
}

const noPair = ({ root, actor, where }: ReadyFacts): Reason => ({
  code: 'pair-missing',
  text: `no hand-off pair can be told in ${root}`,
  command: `stint handoff new --task TASK --updated-by ${shellWord(actor)} --next-owner NAME${where.root}`,
  severity: 'blocking',
});

/** What an audit has found: what `reconcile` writes anew, what `repair` can mend, and what an editor has to. */
const auditOf = (facts: ReadyFacts): readonly Reason[] => {
  const { root, report, handover, sessionState, session, actor, where } = facts;
  const by = `--updated-by ${shellWord(actor)}`;
  const repair = `stint handoff repair ${by}${where.root}`;
  const findings = objectsAt(report, 'findings');
  const active = new Set([handover?.path, sessionState?.path, `${handover?.path} <-> ${sessionState?.path}`]);
  const commandFor = (code: string, file: string): string => {
    if (code === 'lease-invalid') return releaseOf(facts, actor);
    const [path = ''] = file.split(' <-> ');
    const other = path === sessionState?.path ? handover?.path : sessionState?.path;
    if (code === 'file-in-the-way') {
      const away = awayFrom(root, path);
      return session === undefined || !active.has(file) ? away : `${away} && stint rebuild --session ${session.key}`;
    }
    if (/^ptr-(?:conflict|wrong-kind|unreadable)/.test(code)) {
      // What it names has to be put right, and is a finding itself.
      const named = findings.find((one) => textAt(one, 'file') === other && !textAt(one, 'code').startsWith('ptr-'));
      return named === undefined ? edit(root, path) : commandFor(textAt(named, 'code'), textAt(named, 'file'));
    }
    const isOfPair = active.has(file);
    if (isOfPair && /^(?:pair-|ptr-|doc-(?:time|status|updated-by|owner-))/.test(code))
      return `stint handoff reconcile ${by}${where.pair}`;
    if (isOfPair && /^(?:doc-(?:section-(?!twice)|placeholder)|file-missing)/.test(code)) return repair;
    // The halves of an archived pair name each other where both are there, or on record.
    if (code === 'ptr-dangling') return `${repair} || ${awayFrom(root, path)}`;
    // Of what was archived the texts are on record; who has written in one may know better.
    const isOnRecord = file.split(' <-> ').some((one) => session?.archived.includes(one) === true);
    return isOnRecord || /^(?:pair-)?ptr-/.test(code) ? `${repair} || ${edit(root, path)}` : edit(root, path);
  };
  return [
    ...findings.map((finding): Reason => {
      const [code, file, line] = [textAt(finding, 'code'), textAt(finding, 'file'), textAt(finding, 'line')];
      return {
        code,
        text: `${file}${line === '' ? '' : `:${line}`}: ${textAt(finding, 'text')}; ${textAt(finding, 'remedy')}`,
        command: commandFor(code, file),
        severity: 'blocking',
      };
    }),
    ...textsAt(report, 'warnings')
      // The lease is a reason of its own, and so is that there is no pair.
      .filter((text) => !text.endsWith('ACTIVE_LEASE.json: it has expired') && handover !== undefined)
      .map((text): Reason => {
        const [path = ''] = /^.+?\.(?:md|json)(?=: )/.exec(text) ?? [];
        const command = path.endsWith('.json')
          ? releaseOf(facts, facts.leaseFile.holder ?? actor)
          : session?.archived.includes(path) === true
            ? repair
            : awayFrom(root, path);
        return { code: 'audit-warning', text, command, severity: 'warning' };
      }),
  ];
};

/** What only somebody who knows what is true can write. */
const edit = (root: string, path: string): string => `\${EDITOR:-vi} ${shellWord(`${root}/${path}`)}`;

/** What is no document, or nobody knows the other half of, is kept beside. */
const awayFrom = (root: string, path: string): string =>
  `mv ${shellWord(`${root}/${path}`)} ${shellWord(`${root}/${path}.old`)}`;

const releaseOf = ({ where }: ReadyFacts, holder: string): string =>
  `stint handoff lease release --holder ${shellWord(holder)}${where.root}`;

/** Who holds the pair: the session says it, and where nobody holds that, the file. */
const leaseOf = (facts: ReadyFacts): readonly Reason[] => {
  const { session, leaseFile } = facts;
  const said = session?.lease;
  const state = said?.state ?? leaseFile.state;
  const holder = said?.holder ?? leaseFile.holder ?? '';
  const until = said?.expiresAt ?? leaseFile.expiresAt ?? '';
  const purpose = said === undefined ? leaseFile.purpose : said.purpose;
  const named = `holder ${holder}${said === undefined ? '' : ` on ${said.host}`}`;
  const what = purpose === null ? '' : `, for: ${oneLine(purpose)}`;
  const reason = (code: string, text: string): Reason => ({
    code,
    text: `${text}${what}`,
    command: releaseOf(facts, holder),
    severity: 'blocking',
  });
  switch (state) {
    case 'active':
      return [reason('lease-held', `the lease is held by ${named} until ${until}`)];
    case 'stale':
      return [reason('lease-stale', `the lease of ${named} stands until ${until}, and whoever held it is gone`)];
    case 'expired':
      return [reason('lease-stale', `the lease of ${named} has expired at ${until} and was not given back`)];
    case 'invalid':
    case 'none':
      return [];
  }
};

const sessionOf = ({ session, stale, actor, where }: ReadyFacts): readonly Reason[] => [
  ...stale.map((one): Reason => ({ code: 'documents-stale', ...one, severity: 'blocking' })),
  ...(session?.edits ?? []).map((text): Reason => ({
    code: 'edit-not-taken',
    text,
    command: `stint handoff reconcile --updated-by ${shellWord(actor)}${where.pair}`,
    severity: 'blocking',
  })),
  ...(session?.doubts ?? []).map((step): Reason => ({
    code: 'step-in-doubt',
    text: `whether step ${step} was done is not known: --done or --rerun says what becomes of it`,
    command: `stint resume --session ${session?.key}`,
    severity: 'blocking',
  })),
];

/** The blockers of both documents, with what they need. */
const blockersToldIn = ({ handover, sessionState }: Documents): readonly Told[] => {
  const told = blockersIn(bodyOf(sessionState.document ?? nothing, 'Blockers'));
  // The handover tells them in short, and what they need stands in the session state.
  return told.length > 0
    ? told
    : labelled(bodyOf(handover.document ?? nothing, 'Blockers and decisions'), 'Blockers').map((reason) => ({
        reason,
        needs: 'not said here',
      }));
};

type Told = Pick<Blocker, 'reason' | 'needs'>;

/** Those of which nothing says what they need, under the same words either. */
const withoutNeeds = <One extends Told>(blockers: readonly One[]): readonly One[] =>
  blockers.filter(({ reason }) => blockers.every((one) => one.reason !== reason || one.needs === null));

const nothing = { head: '', sections: [] };

const statusIn = ({ handover, sessionState }: Documents): readonly string[] =>
  [sessionState, handover].flatMap(({ document }) => (document === undefined ? [] : valueOf(document, 'Status')));

/** A `done` that is not done. */
const doneOf = ({ session, actor, where }: ReadyFacts, documents: Documents): readonly Reason[] => {
  if (!statusIn(documents).includes('done')) return [];
  const { handover, sessionState } = documents;
  const left = [
    ...listItems(bodyOf(sessionState.document ?? nothing, 'Remaining steps')),
    ...listItems(bodyOf(handover.document ?? nothing, 'Remaining work')),
  ];
  const blockers =
    session === undefined || session.blockers.length === 0 ? blockersToldIn(documents) : session.blockers;
  const reason = (code: string, text: string): Reason => ({
    code,
    text,
    command: `stint handoff reconcile --updated-by ${shellWord(actor)}${where.pair}`,
    severity: 'blocking',
  });
  return [
    ...(left.length === 0 ? [] : [reason('done-with-steps', `it is done, and this is left: ${shortList(left)}`)]),
    ...(blockers.length === 0
      ? []
      : [
          reason(
            'done-with-blockers',
            `it is done, and this blocks it: ${shortList(blockers.map((one) => one.reason))}`,
          ),
        ]),
  ];
};

const shortList = (items: readonly string[]): string => {
  const named = [...new Set(items)].map((item) => truncate(oneLine(item), 100));
  return `${named.slice(0, 5).join('; ')}${named.length > 5 ? ` and ${named.length - 5} more` : ''}`;
};

/** Blockers of which nothing says what it takes to go on, and a `blocked` without any. */
const blockersOf = ({ session, actor, where }: ReadyFacts, documents: Documents): readonly Reason[] => {
  const told = blockersToldIn(documents);
  const open = session?.blockers ?? [];
  const update = `stint handoff update --updated-by ${shellWord(actor)}`;
  const reason = (what: string, command: string): Reason => ({
    code: 'blocker-without-needs',
    text: `it is blocked by ${JSON.stringify(truncate(oneLine(what), 200))}, and nothing says what it takes to go on`,
    command,
    severity: 'blocking',
  });
  if (told.length === 0 && open.length === 0)
    return statusIn(documents).includes('blocked')
      ? [
          {
            code: 'blocked-by-nothing',
            text: 'it is blocked, and nothing says by what',
            command: `${update} --blocker WHAT --needs WHAT${where.pair}`,
            severity: 'blocking',
          },
        ]
      : [];
  if (open.length > 0 && session !== undefined)
    return withoutNeeds(open).map(({ id, reason: what }) => {
      const words = `--session ${session.key}`;
      const anew = `stint block ${shellWord(truncate(oneLine(what), 200))} --needs WHAT ${words}`;
      return reason(what, `${anew} && stint unblock ${id} ${words}`);
    });
  return withoutNeeds(told).map(({ reason: what }) => {
    const blocker = `--blocker ${shellWord(truncate(oneLine(what), 200))}`;
    return reason(what, `${update} ${blocker} --needs WHAT${where.pair}`);
  });
};

const touchedIn = ({ sessionState }: Documents): readonly string[] =>
  listItems(bodyOf(sessionState.document ?? nothing, 'Files touched'));

/** Files that are named and are not there. */
const filesOf = (facts: ReadyFacts, documents: Documents): readonly Reason[] => {
  const { session, changedAt, actor, where } = facts;
  const update = `stint handoff update --updated-by ${shellWord(actor)}`;
  const awaited = new Set(session?.awaited);
  const isGone = (path: string): boolean => !awaited.has(path) && changedAt(path) === undefined;
  const items = touchedIn(documents);
  const isSound = (item: string): boolean => !pathsNamed(item).some(isGone) || !isGone(item);
  const gone = new Set(
    [...items.filter((item) => !isSound(item)).flatMap(pathsNamed), ...(session?.files ?? [])].filter(isGone),
  );
  const left = items
    .flatMap((item) => (isSound(item) ? [item] : pathsNamed(item).filter((path) => !isGone(path))))
    .map((item) => `--file-touched ${shellWord(item)}`);
  const resume = labelled(bodyOf(documents.handover.document ?? nothing, 'Resume instructions'), 'First file to open');
  const first = resume.slice(0, 1).filter(isGone).flatMap(pathsNamed).filter(isGone);
  return [
    ...[...gone].map((path): Reason => {
      const isNoted = session?.files.includes(path) === true;
      const isNamed = items.some((item) => item !== path && !isSound(item) && pathsNamed(item).includes(path));
      const written = `${update} ${left.length === 0 ? '--file-touched None' : left.slice(0, 20).join(' ')}${where.pair}`;
      const noted = `stint note file ${shellWord(path)} --session ${session?.key}`;
      return {
        code: 'file-not-there',
        text: `it names the file ${path} as touched, which is not there; one that was deleted is named with that word`,
        command: [...(isNoted ? [noted] : []), ...(isNamed || !isNoted ? [written] : [])].join(' && '),
        severity: 'blocking',
      };
    }),
    ...first.map((path) => ({
      code: 'first-file-not-there',
      text: `the first file to open is ${path}, which is not there`,
      command: `${update} --first-file FILE${where.pair}`,
      severity: 'blocking' as const,
    })),
  ];
};

/** What was validated, and whether that still says something about the files. */
const validationOf = (facts: ReadyFacts, documents: Documents): readonly Reason[] => {
  const { session, required, now, actor, where } = facts;
  const state = bodyOf(documents.sessionState.document ?? nothing, 'Validation snapshot');
  const other = bodyOf(documents.handover.document ?? nothing, 'Validation status');
  const written = [state, other].some((body) => ['Passed', 'Failed'].some((label) => labelled(body, label).length > 0));
  const validation = session?.validation;
  // A session keeps it: one begins with the first thing that is written.
  const again =
    session === undefined
      ? `stint handoff update --updated-by ${shellWord(actor)}${where.pair} && stint note validation --run -- COMMAND`
      : `stint note validation --run --session ${session.key} -- ${validation?.wasRun === true ? validation.text : 'COMMAND'}`;
  if (validation === undefined && !written)
    return [
      {
        code: 'validation-missing',
        text: 'nothing says what was validated',
        command: again,
        severity: required.has('validation') ? 'blocking' : 'note',
      },
    ];
  if (validation === undefined) {
    const time = Date.parse(valueOf(documents.sessionState.document ?? nothing, 'Last updated'));
    // The documents tell full seconds, and they are written when the work is.
    const changed = changedSince(facts, documents, time + 2000);
    return changed.length === 0
      ? []
      : [
          {
            code: 'validation-perhaps-old',
            text: `what was validated was written down ${agoText(new Date(time).toISOString(), now)}, and since then changed: ${shortList(changed)}`,
            command: `stint handoff update --updated-by ${shellWord(actor)}${where.pair}`,
            severity: 'warning',
          },
        ];
  }
  const changed = changedSince(facts, documents, Date.parse(validation.at));
  const what = JSON.stringify(truncate(oneLine(validation.text), 100));
  return [
    ...((validation.exitCode ?? 0) === 0
      ? []
      : [
          {
            code: 'validation-failed',
            text: `the newest validation, ${what}, ended with ${validation.exitCode}`,
            command: again,
            severity: statusIn(documents).some((status) => status === 'done' || status === 'ready-for-review')
              ? 'warning'
              : 'note',
          } as const,
        ]),
    ...(changed.length === 0
      ? []
      : [
          {
            code: 'validation-old',
            text: `${what} was validated ${agoText(validation.at, now)}, and since then changed: ${shortList(changed)}`,
            command: again,
            severity: 'blocking',
          } as const,
        ]),
    ...(session?.hasOtherEvidence === true
      ? [
          {
            code: 'validation-other-evidence',
            text: `the evidence of ${what} is not what it was: ${validation.path}`,
            command: again,
            severity: 'blocking',
          } as const,
        ]
      : []),
  ];
};

/** The files that are named and were changed after a time, beside the documents themselves. */
const changedSince = ({ session, changedAt }: ReadyFacts, documents: Documents, time: number): readonly string[] => {
  const named = [...touchedIn(documents).flatMap(pathsNamed), ...(session?.files ?? [])];
  const isDocument = (path: string): boolean => /(?:^|\/)(?:handovers|session-state)\/[^/]+\.(?:md|json)$/.test(path);
  return [...new Set(named)].filter((path) => !isDocument(path) && (changedAt(path) ?? 0) > time);
};

/** Times that have not come, and one that is long ago. */
const timeOf = ({ now, actor, where }: ReadyFacts, { handover, sessionState }: Documents): readonly Reason[] => {
  const command = `stint handoff update --updated-by ${shellWord(actor)}${where.pair}`;
  const times = [sessionState, handover].flatMap(({ path, document }) => {
    const at = document === undefined ? '' : valueOf(document, 'Last updated');
    return Number.isNaN(Date.parse(at)) ? [] : [{ path, at, age: Date.parse(now) - Date.parse(at) }];
  });
  const [youngest] = times.toSorted((a, b) => a.age - b.age);
  return [
    ...times
      .filter(({ age }) => age < -clockSkew)
      .map(({ path, at }): Reason => ({
        code: 'clock-ahead',
        text: `${path}: it was last updated at ${at}, which has not come: a clock is wrong`,
        command,
        severity: 'blocking',
      })),
    ...(youngest !== undefined && youngest.age > old
      ? [
          {
            code: 'state-old',
            text: `it was last updated ${agoText(youngest.at, now)}`,
            command,
            severity: 'note',
          } as const,
        ]
      : []),
  ];
};

/** Where a secret stands, and never what it is. */
const secretsOf = ({ root, secrets }: ReadyFacts): readonly Reason[] =>
  secrets.map(({ path, section, line, rules }) => ({
    code: 'secret',
    text: `${path}:${line}: the section ${section} holds a secret (${rules.join(', ')}); take it out, and revoke it where others have seen it`,
    command: edit(root, path),
    severity: 'blocking',
  }));

const treeOf = ({ tree, required }: ReadyFacts): readonly Reason[] => {
  const severity = required.has('clean-tree') ? 'blocking' : 'note';
  const reason = (text: string, command: string): readonly Reason[] => [
    { code: 'tree-dirty', text, command, severity },
  ];
  const because =
    tree === undefined ? 'there is no git repository' : !tree.known ? tree.because : 'git did not say in time';
  if (tree?.known !== true || tree.dirty === null)
    return severity === 'note'
      ? []
      : reason(`whether the working tree is clean is not known: ${because}`, 'git status');
  const { total, paths } = tree.dirty;
  return total === 0
    ? []
    : reason(
        `${total === 1 ? '1 file is' : `${total} files are`} changed and not committed: ${shortList(paths)}${total > paths.length ? ' and others' : ''}`,
        "git add --all && git commit --message 'Hand over'",
      );
};
