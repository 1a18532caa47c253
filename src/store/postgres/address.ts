import { refuse, type Refusal } from '../../kernel/refusal.ts';
import { err, ok, type Result } from '../../lib/result.ts';

/** Where a store lies on a server. */
export interface Address {
  /** The address with everything that is needed to connect. */
  readonly url: string;
  /** The same as it may be shown: without user, password and parameters. */
  readonly shown: string;
  readonly project: string;
  /** The schema that holds the project. */
  readonly schema: string;
}

/** Longest name of a project: with what stands before it, PostgreSQL takes 63 bytes for the name of a schema. */
const longestProject = 50;

/** Why a text is no name of a project. */
export const checkProject = (project: string): Refusal | undefined =>
  new RegExp(`^[a-z0-9][a-z0-9_-]{0,${longestProject - 1}}$`).test(project)
    ? undefined
    : refuse('usage', 'The name of the project is not legal.', {
        expected: `lower-case letters, digits, "_" and "-", first a letter or digit, at most ${longestProject} characters`,
      });

/** An address with the project that is meant, checked before anything is connected. */
export const readAddress = (text: string, project: string | undefined): Result<Address, Refusal> => {
  if (project === undefined) {
    return err(
      refuse('usage', 'A store on a server holds several projects, and none was named.', {
        expected: 'the name of a project: "project" in stint.json, or STINT_PROJECT',
        hint: 'stint init --store env:NAME --project NAME',
      }),
    );
  }
  const illegal = checkProject(project);
  if (illegal !== undefined) return err(illegal);
  if (!URL.canParse(text)) {
    return err(
      refuse('usage', 'The address of the store cannot be read.', {
        expected: 'postgres://USER:PASSWORD@HOST:PORT/DATABASE, with special characters percent-encoded',
      }),
    );
  }
  const url = new URL(text);
  // As libpq: "require" encrypts and does not ask who answers; "verify-full" does.
  if (!url.searchParams.has('uselibpqcompat')) url.searchParams.set('uselibpqcompat', 'true');
  const shown = `postgres://${url.host}${url.pathname} (project ${project})`;
  return ok({ url: url.href, shown, project, schema: `stint_${project}` });
};
