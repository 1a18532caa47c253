/**
 * What starts the program. It holds as little as possible: it turns old Nodes away with a sentence, and lets Node keep the
 * compiled program in the user's cache folder, which saves a verb about a seventh of a bare Node's start.
 */
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);

/** The user's cache folder, if it is the user's own: what lies there is run. */
const cacheFolder = (): string | undefined => {
  const { XDG_CACHE_HOME: cache, HOME: home, LOCALAPPDATA: local } = process.env;
  const base = [cache, local, home].find((name) => name !== undefined && /^(?:\/|[A-Za-z]:)/.test(name));
  if (base === undefined) return undefined;
  const { statSync } = process.getBuiltinModule('node:fs');
  const folder = base === home ? `${home}/.cache/stint` : `${base}/stint`;
  for (const path of [folder, base]) {
    const found = statSync(path, { throwIfNoEntry: false });
    if (found !== undefined) return found.uid === (process.getuid?.() ?? found.uid) ? folder : undefined;
  }
  return undefined;
};

if (major < 22 || (major === 22 && minor < 13)) {
  process.stderr.write(`stint: this is Node ${process.versions.node}; stint needs Node 22.13 or newer.\n`);
  process.exitCode = 6;
} else {
  const folder = cacheFolder();
  // A folder that cannot be made costs the gain, nothing else.
  if (folder !== undefined) process.getBuiltinModule('node:module').enableCompileCache(folder);
  void import('./main.ts');
}
