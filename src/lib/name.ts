const LEGAL = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const LONGEST = 128;
const LONGEST_DERIVED = 80;

/** Fewest characters of a name or an id that stand for the whole. */
export const shortestPrefix = 4;

/**
 * Names that Windows gives to devices, whatever follows the first dot and in any case (Microsoft, "Naming Files, Paths,
 * and Namespaces"). Its superscript digits and `CONIN$` are no legal characters here anyway.
 */
const DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9]|conin\$|conout\$)(?:\.|$)/i;

/**
 * What keeps a text from being a name that is a safe file name on every system, as a short sentence without the text
 * itself; `undefined` when it is one. A name has 1 to 128 of the characters `A-Z a-z 0-9 . _ -`, begins with a letter
 * or digit, holds no `..`, does not end in a dot and is no Windows device.
 */
export function nameProblem(text: string): string | undefined {
  if (text === '') return 'A name cannot be empty.';
  if (text.length > LONGEST) return `A name has at most ${LONGEST} characters, this one has ${text.length}.`;
  if (DEVICE.test(text)) return 'This name is reserved for a device on Windows.';
  if (!/^[A-Za-z0-9]/.test(text)) return 'A name begins with a letter or a digit.';
  if (!LEGAL.test(text)) return 'A name is made of the letters A-Z and a-z, digits, dots, underscores and hyphens.';
  if (text.includes('..')) return 'A name cannot hold two dots in a row.';
  if (text.endsWith('.')) return 'A name cannot end in a dot.';
  return undefined;
}

/** What keeps a text from being the name of a new session: a name, and not that of the folder of archived ones. */
export function sessionNameProblem(text: string): string | undefined {
  // Some file systems take both for one name, however they are written.
  return text.toLowerCase() === 'archive'
    ? 'This name is that of the folder in which archived sessions lie.'
    : nameProblem(text);
}

/** What keeps a text from being a name, or a name behind another one and a colon, as a sentence. */
export function addressProblem(text: string): string | undefined {
  const colon = text.indexOf(':');
  return (colon < 0 ? undefined : nameProblem(text.slice(0, colon))) ?? nameProblem(text.slice(colon + 1));
}

/**
 * Makes a legal name of at most 80 characters out of any text, for example of a branch. Each run of what a name cannot
 * hold becomes one hyphen, and dots, hyphens and underscores at the edges go. What then is a device name gets `x-` in
 * front, nothing at all becomes `unnamed`. The same text gives the same name, but different texts may share one: the
 * caller makes it unique.
 */
export function nameFrom(text: string): string {
  const readable = text
    .replaceAll(/\.{2,}/g, '/')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[._-]+/, '')
    .slice(0, LONGEST_DERIVED);
  const name = trimEnd(readable);
  if (name === '') return 'unnamed';
  return DEVICE.test(name) ? trimEnd(`x-${name}`.slice(0, LONGEST_DERIVED)) : name;
}

const trimEnd = (name: string): string => name.replace(/[._-]+$/, '');
