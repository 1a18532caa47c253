import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WrittenFiles } from '../../kernel/verb.ts';
import { err, ok } from '../../lib/result.ts';
import { findTemplate, listTemplates } from './lookup.ts';

const folder = '.workflow/templates';

/** A project with some files, of which those named `null` cannot be read. What the caller names lies in `/here`. */
const filesOf = (contents: Readonly<Record<string, string | null>>): WrittenFiles => {
  const read: WrittenFiles['read'] = (path) => {
    if (path.startsWith('/') || path.split('/').includes('..'))
      return err({ problem: 'is not read: it leads out of the project', isMissing: false });
    const text = contents[path];
    if (text === undefined) return err({ problem: 'does not exist', isMissing: true });
    return text === null ? err({ problem: 'is not accessible: permission denied', isMissing: false }) : ok(text);
  };
  return {
    read,
    list: (where) =>
      Object.keys(contents)
        .filter((path) => path.startsWith(`${where}/`))
        .map((path) => path.slice(where.length + 1))
        .filter((name) => !name.includes('/'))
        .toSorted(),
    readNamed: (path) => {
      const text = contents[`named ${path}`];
      return text === undefined || text === null
        ? err({ problem: 'does not exist', isMissing: true })
        : ok({ path, text });
    },
  };
};

const template = (id: string, more: object = {}): string =>
  JSON.stringify({ template_id: id, name: `Name of ${id}`, nodes: [{ id: 'A', type: 'skill' }], ...more });

const indexOf = (...paths: readonly string[]): string =>
  JSON.stringify({ templates: paths.map((path) => ({ template_id: 'x', name: 'x', path, tags: [], node_count: 1 })) });

const found = (name: string, contents: Readonly<Record<string, string | null>>): string => {
  const one = findTemplate(name, filesOf(contents));
  return one.ok ? one.value.path : `${one.error.code}: ${one.error.message}`;
};

test('a template is found by its path as it is named, by its slug, by its file name and by its template_id', () => {
  const contents = {
    [`${folder}/audit.json`]: template('wft-audit'),
    [`${folder}/index.json`]: indexOf('flows/nightly.json'),
    'flows/nightly.json': template('wft-nightly'),
    'named ./audit': template('a'),
    'named /away/audit.json': template('b'),
    'named C:\\audit.json': template('c'),
    'named ../audit.json': template('d'),
  };
  for (const path of ['./audit', '/away/audit.json', 'C:\\audit.json', '../audit.json'])
    assert.equal(found(path, contents), path);
  assert.equal(found('audit', contents), `${folder}/audit.json`);
  assert.equal(found('audit.json', contents), `${folder}/audit.json`);
  assert.equal(found('wft-audit', contents), `${folder}/audit.json`);
  assert.equal(found('nightly', contents), 'flows/nightly.json');
  assert.equal(found('wft-nightly', contents), 'flows/nightly.json');
  assert.equal(found('./other.json', contents), 'not-found: The template ./other.json does not exist.');
});

test('of a slug the index has the first word, and one that it lacks is a file in the folder', () => {
  const contents = {
    [`${folder}/audit.json`]: template('wft-old'),
    [`${folder}/index.json`]: indexOf('./flows/audit.json'),
    'flows/audit.json': template('wft-new'),
  };
  assert.equal(found('audit', contents), 'flows/audit.json');
  assert.equal(found('wft-old', contents), `${folder}/audit.json`);
  // What the index names and is not there does not hide what is.
  const { 'flows/audit.json': _, ...left } = contents;
  const one = findTemplate('audit', filesOf(left));
  assert.ok(one.ok);
  assert.equal(one.value.path, `${folder}/audit.json`);
  assert.deepEqual(one.value.remarks, [`${folder}/index.json names flows/audit.json, which does not exist.`]);
});

test('what is nearly right is offered and never taken', () => {
  const contents = { [`${folder}/nightly-audit.json`]: template('wft-1'), [`${folder}/tidy.json`]: template('wft-2') };
  for (const name of ['nightly-adit', 'nightly', 'audit', 'Nightly-Audit']) {
    const one = findTemplate(name, filesOf(contents));
    assert.ok(!one.ok, name);
    assert.deepEqual(
      [one.error.code, one.error.candidates, one.error.legal, one.error.hint],
      ['not-found', ['nightly-audit'], ['nightly-audit', 'tidy'], 'stint template show nightly-audit'],
    );
  }
  assert.equal(found('zzzz', contents), 'not-found: There is no template zzzz.');
  assert.equal(found('a b', {}), 'not-found: There is no template "a b", and none at all in .workflow/templates.');
});

test('a name that is no path is not made one', () => {
  const contents = {
    [`${folder}/../secret.json`]: template('x'),
    [`${folder}/sub/x.json`]: template('y'),
    [`${folder}/x.json`]: template('z'),
  };
  for (const name of ['sub/x', 'sub/../x', '%2e%2e', 'sub\\x', '', 'index', 'CON', '__proto__'])
    assert.match(found(name, { ...contents, [`${folder}/index.json`]: indexOf() }), /^not-found/, name);
});

test('what several templates are called is not guessed', () => {
  const contents = { [`${folder}/a.json`]: template('wft-x'), [`${folder}/b.json`]: template('wft-x') };
  const one = findTemplate('wft-x', filesOf(contents));
  assert.ok(!one.ok);
  assert.deepEqual([one.error.code, one.error.candidates], ['ambiguous', [`${folder}/a.json`, `${folder}/b.json`]]);
});

test('the index leads nowhere outside the project', () => {
  const contents = { [`${folder}/index.json`]: indexOf('../secret.json', '/etc/passwd.json', 'a/../../b.json') };
  const { templates, unreadable } = listTemplates(filesOf(contents));
  assert.deepEqual(templates, []);
  assert.equal(unreadable.length, 3);
  assert.ok(unreadable.every(({ problem }) => problem.includes('leads out of the project')));
  assert.match(found('secret', contents), /^invalid-input: .*leads out of the project/);
});

test('a damaged index is told and hides no file', () => {
  const path = `${folder}/index.json`;
  const remarks: readonly (readonly [string | null, RegExp])[] = [
    ['{"templates": [', /index\.json is not JSON at line 1, column 16\.$/],
    ['[]', /holds no list of templates\.$/],
    ['{"templates": {}}', /holds no list of templates\.$/],
    [null, /permission denied\.$/],
    ['{"templates": [{"path": 3}, null, {"path": " "}]}', /templates\[0\] has no path\.$/],
    ['\uFEFF{"templates": []}', /^$/],
  ];
  for (const [text, remark] of remarks) {
    const files = filesOf({ [path]: text, [`${folder}/audit.json`]: template('wft-1') });
    const list = listTemplates(files);
    assert.deepEqual(
      list.templates.map(({ slug }) => slug),
      ['audit'],
    );
    assert.match(list.remarks[0] ?? '', remark);
    const one = findTemplate('audit', files);
    assert.ok(one.ok);
    assert.deepEqual(one.value.remarks, list.remarks);
    const refused = found('auditor', { [path]: text });
    assert.match(refused, /^not-found: There is no template auditor, and none at all in \.workflow\/templates\./);
    assert.ok(refused.includes(list.remarks[0] ?? ''), 'where something is missing that the index may have named');
  }
});

test('a list has every template once, and each file that holds none with the reason', () => {
  const checkpoint = { id: 'CP', type: 'checkpoint' };
  const list = listTemplates(
    filesOf({
      [`${folder}/b.json`]: `\uFEFF${template('wft-b', { tags: ['quick', 3], nodes: [checkpoint, {}, 7] })}`,
      [`${folder}/a.json`]: '{',
      [`${folder}/c.json`]: '{"x": 1}',
      [`${folder}/d.json`]: null,
      [`${folder}/notes.md`]: 'none',
      [`${folder}/index.json`]: indexOf(`${folder}/b.json`, `./${folder}/b.json`, '.workflow\\templates\\b.json'),
    }),
  );
  assert.deepEqual(list.templates, [
    {
      slug: 'b',
      path: `${folder}/b.json`,
      isIndexed: true,
      template_id: 'wft-b',
      name: 'Name of wft-b',
      tags: ['quick'],
      nodes: 2,
      checkpoints: 1,
    },
  ]);
  assert.deepEqual(
    list.unreadable.map(({ path, problem }) => `${path} ${problem}`),
    [
      `${folder}/a.json is not JSON at line 1, column 2`,
      `${folder}/c.json is no template: it has no nodes`,
      `${folder}/d.json is not accessible: permission denied`,
    ],
  );
});

test('a template that is damaged is found, so that its faults can be told', () => {
  assert.equal(found('a', { [`${folder}/a.json`]: '{' }), `${folder}/a.json`);
  assert.match(found('a', { [`${folder}/a.json`]: null }), /^invalid-input: .*permission denied\.$/);
});

test('a file whose name is no slug is listed with that reason, and found by what is none', () => {
  const contents = { [`${folder}/e v.json`]: template('wft-ev'), [`named ./${folder}/e v.json`]: template('wft-ev') };
  const { templates, unreadable } = listTemplates(filesOf(contents));
  assert.deepEqual(templates, []);
  assert.deepEqual(
    unreadable.map(({ path, problem }) => `${path} ${problem}`),
    [`${folder}/e v.json has a name that is no slug: it is found by its template_id and its path`],
  );
  assert.match(found('e v', contents), /^not-found: /);
  assert.equal(found('wft-ev', contents), `${folder}/e v.json`);
  assert.equal(found(`./${folder}/e v.json`, contents), `./${folder}/e v.json`);
});

test('a name that is suggested in a command is one word of it', () => {
  const one = findTemplate('tidy u', filesOf({ [`${folder}/a.json`]: template('tidy up') }));
  assert.ok(!one.ok);
  assert.equal(one.error.hint, "stint template show 'tidy up'");
});
