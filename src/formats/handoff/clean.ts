import { redact } from '../../lib/redact.ts';
import { mayHoldSecret } from '../../lib/secret-hint.ts';
import { sha256 } from '../../lib/sha256.ts';
import { printSections, readSections } from './sections.ts';

/** Secrets in documents: they stay in the file that somebody wrote them into, and nothing else holds them. */

/** A text of a document as the log holds it. */
export const cleanDocument = (text: string): string => {
  const known = recent.get(text);
  if (known !== undefined) return known;
  const clean = cleaned(text);
  if (recent.size >= mostRecent) recent.clear();
  // What is clean stays what it is.
  recent.set(text, clean).set(clean, clean);
  return clean;
};

const cleaned = (text: string): string => {
  const whole = text.toWellFormed();
  return mayHoldSecret(whole) ? redact(whole).text : whole;
};

/** The newest texts: a verb asks for that of a document several times. */
const recent = new Map<string, string>();
const mostRecent = 8;

/** Whether a text says nothing at all; a byte order mark is white space too. */
export const isBlank = (text: string): boolean => text.trim() === '';

/** What a document's version is known by: the digest of its text without secrets. */
export const digestOfDocument = (text: string): string => sha256(cleanDocument(text));

/**
 * A document that is to be written in the place of another: what was withheld of a section that stays is what stands there.
 * With `isEdited` that is also so where the session holds a secret of its own, which somebody has changed there since.
 */
export const withWithheld = (wanted: string, found: string, isEdited = false): string => {
  if (cleanDocument(found) === found && (!isEdited || cleanDocument(wanted) === wanted)) return wanted;
  const before = readSections(found);
  const after = readSections(wanted);
  const bodyByName = new Map(before.sections.map(({ name, body }) => [name, body]));
  const stays = (own: string, next: string): boolean => cleanDocument(own) === (isEdited ? cleanDocument(next) : next);
  return printSections({
    head: stays(before.head, after.head) ? before.head : after.head,
    sections: after.sections.map((section) => {
      const own = bodyByName.get(section.name);
      return own !== undefined && stays(own, section.body) ? { ...section, body: own } : section;
    }),
  });
};
