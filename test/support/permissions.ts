/** Stores that an ordinary user may read and not write. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { command, type TestWorld } from './world.ts';

/** For the superuser, who is above permissions, somebody who is not; undefined where nobody else may run the command. */
const nobody = { uid: 65_534, gid: 65_534 };
const isRoot = process.getuid?.() === 0;
const nobodyRuns =
  !isRoot || spawnSync(process.execPath, [command, '--version'], { ...nobody, cwd: '/', env: {} }).status === 0;
/** Why a test that needs an ordinary user is skipped, or false. */
export const withoutUser = nobodyRuns ? false : 'an ordinary user may not run the built command here';

/** Everything below a folder, deepest first. */
const below = (folder: string): readonly string[] => [
  ...readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    return entry.isDirectory() ? below(path) : [path];
  }),
  folder,
];

/** A world that belongs to an ordinary user, who runs its verbs. */
export const ordinary = (world: TestWorld): TestWorld => {
  if (!isRoot) return world;
  for (const path of below(world.root)) chownSync(path, nobody.uid, nobody.gid);
  return world.with({ user: nobody });
};

/** Runs an action while nothing in the project may be written. */
export const whileProtected = (world: TestWorld, action: () => void): void => {
  const paths = below(world.project);
  for (const path of paths) chmodSync(path, lstatSync(path).mode & 0o555);
  try {
    action();
  } finally {
    for (const path of paths.toReversed()) chmodSync(path, lstatSync(path).mode | 0o700);
  }
};
