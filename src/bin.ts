/**
 * What starts the program. It holds as little as possible: it turns old Nodes away with a sentence, and lets Node keep the
 * compiled program in the user's cache folder, which saves a verb about a seventh of a bare Node's start.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const { XDG_CACHE_HOME: cache, HOME: home, LOCALAPPDATA: local } = process.env;

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(`stint: this is Node ${process.versions.node}; stint needs Node 22.13 or newer.\n`);
  process.exitCode = 6;
} else {
  const folder = [cache, local, home === undefined || home === '' ? '' : `${home}/.cache`].find(
    (name) => (name ?? '') !== '',
  );
  // A folder that cannot be made costs the gain, nothing else.
  if (folder !== undefined) process.getBuiltinModule('node:module').enableCompileCache(`${folder}/stint`);
  void import('./main.ts');
}
