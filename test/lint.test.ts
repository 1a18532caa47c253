import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';

const root = dirname(import.meta.dirname);

/** A line that breaks a rule of the architecture, and the file in which it does. */
const planted: readonly (readonly [string, string, RegExp])[] = [
  ['lib knows nothing of sessions', 'src/lib/planted.ts', /imports go to the left only/],
  ['the kernel imports no store', 'src/kernel/planted-store.ts', /kernel is pure/],
  ['the kernel imports nothing of Node', 'src/kernel/planted-node.ts', /kernel is pure/],
  ['the kernel reads no clock', 'src/kernel/planted-clock.ts', /Time comes in as a fact/],
  ['the kernel rolls no dice', 'src/kernel/planted-chance.ts', /Chance comes in as a fact/],
  ['the kernel sees no process', 'src/kernel/planted-process.ts', /process/],
  ['a format imports no kind', 'src/formats/planted.ts', /Formats are pure/],
  ['a kind imports no other kind', 'src/kinds/planted/index.ts', /never each other/],
  ['a verb imports no store', 'src/verbs/planted.ts', /through the kernel's ports/],
  ['a mirror imports no store', 'src/mirror/planted.ts', /through its port/],
  ['a store imports no surface', 'src/store/planted.ts', /given their kinds/],
  ['a surface does not import main', 'src/surfaces/planted.ts', /Only main composes/],
  ['a surface reads no environment', 'src/surfaces/planted-env.ts', /main reads the environment/],
];

const lines: Readonly<Record<string, string>> = {
  'src/lib/planted.ts': "import { refuse } from '../kernel/refusal.ts';\nexport const planted = refuse;\n",
  'src/kernel/planted-store.ts':
    "import { schemaVersion } from '../store/header.ts';\nexport const planted = schemaVersion;\n",
  'src/kernel/planted-node.ts': "import { existsSync } from 'node:fs';\nexport const planted = existsSync;\n",
  'src/kernel/planted-clock.ts': 'export const planted = (): number => Date.now();\n',
  'src/kernel/planted-chance.ts': 'export const planted = (): number => Math.random();\n',
  'src/kernel/planted-process.ts': 'export const planted = (): string => process.title;\n',
  'src/formats/planted.ts': "import { kinds } from '../kinds/registry.gen.ts';\nexport const planted = kinds;\n",
  'src/kinds/planted/index.ts': "import { kind } from '../review/index.ts';\nexport const planted = kind;\n",
  'src/verbs/planted.ts': "import { doctor } from '../store/doctor.ts';\nexport const planted = doctor;\n",
  'src/mirror/planted.ts':
    "import { schemaVersion } from '../store/header.ts';\nexport const planted = schemaVersion;\n",
  'src/store/planted.ts': "import { allVerbs } from '../surfaces/verbs.ts';\nexport const planted = allVerbs;\n",
  'src/surfaces/planted.ts': "import { openStint } from '../index.ts';\nexport const planted = openStint;\n",
  'src/surfaces/planted-env.ts': "export const planted = process.env['HOME'];\n",
};

test('the rule of the layers fires: each planted violation is found in its file, and nothing else is', (t) => {
  const copy = mkdtempSync(join(tmpdir(), 'stint-lint-'));
  t.after(() => rmSync(copy, { recursive: true, force: true }));
  for (const name of ['src', 'test/support', 'package.json', 'tsconfig.json', '.oxlintrc.json'])
    cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const [path, content] of Object.entries(lines)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    writeFileSync(join(copy, path), content);
  }
  const run = spawnSync(join(root, 'node_modules/.bin/oxlint'), ['--format', 'json', 'src'], {
    cwd: copy,
    encoding: 'utf8',
  });
  const {
    diagnostics,
  }: { diagnostics: readonly { readonly filename: string; readonly message: string; readonly help?: string }[] } =
    JSON.parse(run.stdout);
  const found = new Map<string, string>();
  for (const { filename, message, help } of diagnostics) {
    found.set(filename, `${found.get(filename) ?? ''}${message} ${help ?? ''}\n`);
  }
  for (const [rule, path, message] of planted) assert.match(found.get(path) ?? 'nothing was found', message, rule);
  assert.deepEqual([...found.keys()].toSorted(), planted.map(([, path]) => path).toSorted());
});
