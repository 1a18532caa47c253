/**
 * Builds `dist/`: the command as CommonJS, which starts faster than modules do, in one small file for the everyday verbs
 * and others that are loaded when they are needed; and the library as plain modules with their types.
 */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { parseAst } from 'rolldown/parseAst';
import { Visitor } from 'rolldown/utils';

const root = dirname(import.meta.dirname);
const dist = join(root, 'dist');
/** Built beside and then moved into place, so that whoever runs the program meanwhile finds the old or the new one. */
const fresh = join(root, `dist-${process.pid}`);

const types = spawnSync('tsc', ['-p', 'tsconfig.build.json', '--outDir', fresh], { cwd: root, stdio: 'inherit' });
if (types.status !== 0) {
  rmSync(fresh, { recursive: true, force: true });
  process.exit(types.status ?? 1);
}

/** Characters other than ASCII are escaped: code without them is kept and read at half the size. */
const escapeCharacters = (code: string): string =>
  code.replaceAll(/[^\u0000-\u007f]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

/**
 * Puts functions in parentheses, which tells the engine to compile them at once. Node keeps only what was compiled in the
 * very first run, and every later verb would compile again what that one did not need; but what is kept has to be read each
 * time. So in the file that is always loaded it is those that everyday verbs call, and in the others all.
 *
 * Only function expressions and plain arrows can say so. What else there is becomes an expression: methods, asynchronous
 * arrows that have no use for a `this`, and declarations, which then come first, because they may be called above their place.
 */
const parenthesizeFunctions = (code: string, isCalled: (start: number, end: number) => boolean): string => {
  const program = parseAst(code);
  const edits: { readonly at: number; readonly cut: number; readonly text: string }[] = [];
  const edit = (at: number, text: string, cut = 0): void => void edits.push({ at, cut, text });
  const parenthesize = ({ start, end }: Span): void => {
    edit(start, '(');
    edit(end, ')');
  };
  const owned = ownedPlaces(program);
  new Visitor({
    ArrowFunctionExpression: ({ start, end, async, body }) => {
      if (!isCalled(start, end)) return;
      if (!async || owned.some((at) => at > start && at < end)) return parenthesize({ start, end });
      const isBlock = body.type === 'BlockStatement';
      const isBare = code[start + 'async'.length] !== '(';
      edit(start, '(');
      edit(start + 'async'.length, isBare ? ' function(' : ' function');
      edit(code.lastIndexOf('=>', body.start), `${isBare ? ')' : ''}${isBlock ? '' : '{return '}`, '=>'.length);
      return edit(end, isBlock ? ')' : '})');
    },
    FunctionExpression: ({ start, end }) => {
      // The function of a method begins with its parameters.
      if (isCalled(start, end) && code[start] !== '(') parenthesize({ start, end });
    },
    Property: ({ start, method, value }) => {
      if (!method || value.type !== 'FunctionExpression' || value.async || value.generator) return;
      if (!isCalled(start, value.end)) return;
      edit(value.start, ':(function');
      edit(value.end, ')');
    },
  }).visit(program);
  // From the end, so that places stay where they are; of two at one place the inner one was found last and comes first.
  edits.sort((a, b) => b.at - a.at);
  const withEdits = ({ start, end }: Span): string =>
    edits
      .filter(({ at }) => at >= start && at <= end)
      .reduce(
        (edited, { at, cut, text }) => edited.slice(0, at - start) + text + edited.slice(at - start + cut),
        code.slice(start, end),
      );
  const declarations: string[] = [];
  const statements: string[] = [];
  for (const statement of program.body) {
    const { start, end } = statement;
    if (statement.type === 'FunctionDeclaration' && statement.id !== null && isCalled(start, end)) {
      const { id, generator, async } = statement;
      const head = `${async ? 'async ' : ''}function${generator ? '*' : ''}`;
      declarations.push(`${id.name}=(${head}${withEdits({ start: id.end, end })})`);
    } else statements.push(withEdits({ start, end }));
  }
  return `${declarations.length === 0 ? '' : `var ${declarations.join(',')};`}${statements.join('')}`;
};

/**
 * Gives what a file exports when another file asks for it, as one object without a prototype. Everyday verbs do without most
 * of the others, and hundreds of names, which are made one after the other, take as long as a whole store is opened.
 */
const exportWhenAsked = (code: string): string => {
  const exported: { readonly name: string; readonly value: string; readonly at: number }[] = [];
  new Visitor({
    AssignmentExpression: ({ start, left, right }) => {
      if (left.type !== 'MemberExpression' || left.object.type !== 'Identifier' || left.object.name !== 'exports')
        return;
      const { property } = left;
      if (property.type !== 'Identifier') throw new Error(`what is exported at ${start} has no plain name`);
      exported.push({ name: property.name, value: code.slice(right.start, right.end), at: start });
    },
  }).visit(parseAst(code));
  const each = exported.map(({ name, value }) => `exports.${name}=${value}`).join(',');
  const at = exported[0]?.at ?? 0;
  if (!code.startsWith(each, at)) throw new Error('what is exported stands in more than one place');
  const members = exported.map(({ name, value }) => `${name}:${value}`).join(',');
  return `${code.slice(0, at)}module.exports=()=>exports.all??={__proto__:null,${members}}${code.slice(at + each.length)}`;
};

/** Where `this` and the like stand, which an arrow takes from around it. */
const ownedPlaces = (program: ReturnType<typeof parseAst>): readonly number[] => {
  const places: number[] = [];
  const add = ({ start }: Span): void => void places.push(start);
  new Visitor({
    ThisExpression: add,
    Super: add,
    MetaProperty: add,
    Identifier: (node) => {
      if (node.name === 'arguments') add(node);
    },
  }).visit(program);
  return places;
};

/** Where something stands in a file. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** The verbs whose functions are compiled at once, called one after the other where a session is open already. */
const everydayLines = [
  ['note', 'a remark'],
  ['advance', 'change-context'],
  ['advance', 'change-context', '--json'],
  ['begin', 'review'],
  ['status'],
  ['status', '--json'],
  ['advance', 'analysis'],
  ['advance', 'reviews'],
  ['status'],
  ['note', 'another one', '--json'],
  ['begin', 'review', '--json'],
];

/** Where the functions of a file begin and end that everyday verbs call, as the engine's own coverage tells. */
const calledFunctions = (command: string, file: string): ReadonlySet<string> => {
  const folder = mkdtempSync(join(tmpdir(), 'stint-build-'));
  try {
    for (const part of ['.git/objects', '.git/refs']) mkdirSync(join(folder, part), { recursive: true });
    writeFileSync(join(folder, '.git/HEAD'), 'ref: refs/heads/main\n');
    writeFileSync(join(folder, '.git/config'), '[core]\n\tbare = false\n');
    const env = { HOME: join(folder, 'home'), USER: 'build' };
    const call = (line: readonly string[], more: Readonly<Record<string, string>>): void => {
      const run = spawnSync(process.execPath, [command, ...line], {
        cwd: folder,
        encoding: 'utf8',
        env: { ...env, ...more },
      });
      if (run.status !== 0) throw new Error(`stint ${line.join(' ')}: ${run.stderr}`);
    };
    // What makes a store is called once in the life of a project.
    call(['begin', 'review'], {});
    for (const line of everydayLines) call(line, { NODE_V8_COVERAGE: join(folder, 'coverage') });
    const called = new Set<string>();
    for (const name of readdirSync(join(folder, 'coverage'))) {
      const { result }: Coverage = JSON.parse(readFileSync(join(folder, 'coverage', name), 'utf8'));
      const functions = result.filter(({ url }) => url.endsWith(`/${file}`)).flatMap((script) => script.functions);
      for (const { ranges } of functions) {
        const [whole] = ranges;
        if (whole !== undefined && whole.count > 0) called.add(`${whole.startOffset}-${whole.endOffset}`);
      }
    }
    return called;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

/** What `NODE_V8_COVERAGE` writes, as far as it is used here. */
interface Coverage {
  readonly result: readonly {
    readonly url: string;
    readonly functions: readonly {
      readonly ranges: readonly { readonly startOffset: number; readonly endOffset: number; readonly count: number }[];
    }[];
  }[];
}

const ascii = {
  name: 'ascii',
  generateBundle: (_: unknown, chunks: Readonly<Record<string, { type: string; code?: string }>>): void => {
    for (const chunk of Object.values(chunks)) {
      if (chunk.code !== undefined) chunk.code = escapeCharacters(chunk.code);
    }
  },
};

/** What files of the driver of a server load, by the names that it has there. */
const lateNames: Readonly<Record<string, readonly string[]>> = {
  '/pg/lib/crypto/utils.js': ['nodeCrypto', 'webCrypto', 'subtleCrypto'],
  '/pg/lib/connection-parameters.js': ['dns'],
};

/**
 * What the driver of a server needs for a password or another driver alone is loaded when it is used: Node's cryptography
 * takes as long as a sixth of a bare Node's start, its resolver as long as two answers of the server.
 */
const driverWhenNeeded = {
  name: 'driver-when-needed',
  transform: (code: string, id: string): string | undefined => {
    const names = Object.entries(lateNames).find(([file]) => id.endsWith(file))?.[1];
    if (names === undefined) return undefined;
    const late = code
      .replaceAll(new RegExp(`\\b(${names.join('|')})\\.`, 'g'), '$1().')
      .replaceAll(new RegExp(`^const (${names.join('|')}) = `, 'gm'), 'const $1 = () => ');
    if (late.split(' = () => ').length < 1 + names.length) throw new Error(`${id} is not what it was`);
    return late;
  },
};

/**
 * What everyday verbs hardly ever call. Each becomes a file of its own, required with the first call of one of its
 * functions, so that nobody else reads it. The library has them as plain modules.
 */
const seldom = new Set(
  [
    'src/formats/ocr/round-meta.ts',
    'src/kernel/phase-completion.ts',
    'src/kernel/phase-progress.ts',
    'src/kinds/review/examples.ts',
    'src/lib/graphemes.ts',
    'src/lib/nearest.ts',
    'src/lib/redact.ts',
    'src/store/migrations.ts',
    'src/store/new-place.ts',
    'src/store/sqlite/failures.ts',
    'src/store/sqlite/private-copy.ts',
    'src/store/sqlite/salvage/wal.ts',
    'src/surfaces/verb-names.ts',
  ].map((path) => join(root, path)),
);

/** Makes each function that is imported from such a module one that asks for the module when it is called. */
const requiredWhenCalled = {
  name: 'required-when-called',
  transform: (code: string, id: string): string =>
    code.replaceAll(/^import \{([^}]*)\} from '(\.[^']+)';$/gm, (line, names: string, path: string) => {
      const file = join(dirname(id), path);
      if (!seldom.has(file)) return line;
      const imported = names.split(',').map((name) => name.trim());
      const values = imported.filter((name) => name !== '' && !name.startsWith('type '));
      const source = readFileSync(file, 'utf8');
      const other = values.find(
        (name) => !new RegExp(`^export (function\\*? ${name}\\b|const ${name} = \\()`, 'm').test(source),
      );
      if (other !== undefined)
        throw new Error(`${other} of ${path} is no function, so that ${id} cannot ask for it late`);
      return values
        .map((name) => `const ${name} = (...given) => REQUIRED(import('${path}')).${name}(...given);`)
        .join('');
    }),
};

/** What is loaded with the program says so, as `scripts/generate.ts` reads it. */
const everydayFiles = globSync(['src/verbs/*.ts', 'src/kinds/*/index.ts'], { cwd: root })
  .map((path) => join(root, path))
  .filter((path) => readFileSync(path, 'utf8').includes('\n  everyday: true,'));

/** What help alone shows of it: a property that is a text of several paragraphs, or a list of command lines. */
const shownByHelp = /(?<=^ +)(details|examples): (`[^`$]*`|\[[^\]]*\]),$/gm;

const helpTexts = everydayFiles.flatMap((path) =>
  [...readFileSync(path, 'utf8').matchAll(shownByHelp)].map(([, , text = '']) => text),
);

/** Puts what help alone shows of everyday verbs, a fortieth of what they load, into a file that help asks for. */
const helpWhenAsked = {
  name: 'help-when-asked',
  resolveId: (id: string): string | undefined => (id === 'help-texts' ? id : undefined),
  load: (id: string): string | undefined =>
    id === 'help-texts'
      ? `const texts = [${helpTexts.join(',')}]; export const helpText = (at) => texts[at];`
      : undefined,
  transform: (code: string, id: string): string | undefined =>
    everydayFiles.includes(id)
      ? code.replaceAll(
          shownByHelp,
          (_, name: string, text: string) =>
            `get ${name}() { return REQUIRED(import('help-texts')).helpText(${helpTexts.indexOf(text)}); },`,
        )
      : undefined,
};

/** What `REQUIRED` of a module comes out as. */
const asksForModule = /\bREQUIRED\(Promise\.resolve\(\)\.then\(\(\)=>(require\("[^"]+"\))\)\)/g;

const bundle = await rolldown({
  input: { stint: join(root, 'src/bin.ts') },
  platform: 'node',
  plugins: [requiredWhenCalled, helpWhenAsked, driverWhenNeeded, ascii],
  resolve: { mainFields: ['module', 'main'] },
});
const { output } = await bundle.write({
  dir: fresh,
  format: 'cjs',
  minify: true,
  comments: false,
  // Of a `const`, the engine asks at each use in a function whether it is there yet.
  topLevelVar: true,
  banner: (chunk) => (chunk.isEntry ? '#!/usr/bin/env node' : ''),
  entryFileNames: '[name].cjs',
  chunkFileNames: 'command/[name].cjs',
});
chmodSync(join(fresh, 'stint.cjs'), 0o755);
for (const chunk of output) {
  if (chunk.type !== 'chunk' || chunk.isEntry) continue;
  const path = join(fresh, chunk.fileName);
  const code = readFileSync(path, 'utf8').replaceAll(asksForModule, '$1');
  if (code.includes('REQUIRED')) throw new Error(`${chunk.fileName} does not say what it asks for`);
  writeFileSync(path, chunk.name === 'main' ? exportWhenAsked(code) : code.replace('require("./main.cjs")', '$&()'));
}
for (const chunk of output) {
  if (chunk.type !== 'chunk' || chunk.isEntry) continue;
  const path = join(fresh, chunk.fileName);
  const called = chunk.name === 'main' ? calledFunctions(join(fresh, 'stint.cjs'), chunk.fileName) : undefined;
  if (called?.size === 0) throw new Error(`nothing in ${chunk.fileName} is called`);
  const isCalled = (start: number, end: number): boolean => called?.has(`${start}-${end}`) ?? true;
  writeFileSync(path, parenthesizeFunctions(readFileSync(path, 'utf8'), isCalled));
}
const old = `${fresh}-old`;
if (existsSync(dist)) renameSync(dist, old);
renameSync(fresh, dist);
rmSync(old, { recursive: true, force: true });
for (const chunk of output) {
  if (chunk.type === 'chunk')
    process.stdout.write(`dist/${chunk.fileName}: ${Math.ceil(chunk.code.length / 1024)} KiB\n`);
}
