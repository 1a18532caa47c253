/**
 * Whether a text may hold a secret at all. It says yes far too often and never a wrong no (a property test holds it
 * against `redact`), so that everyday texts do not load the scanner, which costs a verb a tenth of a bare Node's start.
 */
export const mayHoldSecret = (text: string): boolean =>
  /pass|pwd|secret|token|key|auth|cred|bearer|basic|BEGIN |@|\s--?[aupw]|[\w+/.~%-]{14}/i.test(text);
