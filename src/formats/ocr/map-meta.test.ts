import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { JsonObject } from '../../lib/canonical-json.ts';
import { checkMapMeta, printMapMeta } from './map-meta.ts';
import { longestText } from './payload.ts';

const file = { file_path: 'src/a.ts', role: 'core', lines_added: 3, lines_deleted: 0 };
const section = { section_number: 1, title: 'The store', files: [file] };
const meta = { schema_version: 1, sections: [section] };

const withSection = (change: object): object => ({ ...meta, sections: [{ ...section, ...change }] });
const withFile = (change: object): object => withSection({ files: [{ ...file, ...change }] });

const faultsOf = (payload: unknown): readonly string[] => {
  const checked = checkMapMeta(payload);
  return checked.ok ? [] : checked.error;
};

const accepted = (payload: unknown) => {
  const checked = checkMapMeta(payload);
  assert.ok(checked.ok, JSON.stringify(checked));
  return checked.value;
};

/** What is wrong, and the fault that must name it. */
const faulty: readonly (readonly [string, unknown, RegExp])[] = [
  ['no object', [], /^\$ expected an object, found an array/],
  ['null', null, /^\$ expected an object/],
  ['no version', { sections: [] }, /^\$\.schema_version is missing/],
  ['another version', { ...meta, schema_version: 2 }, /^\$\.schema_version expected 1, found 2/],
  ['no sections', { schema_version: 1 }, /^\$\.sections is missing/],
  ['sections that are no list', { ...meta, sections: {} }, /^\$\.sections expected an array/],
  ['a section that is none', { ...meta, sections: [7] }, /^\$\.sections\[0\] expected an object/],
  ['a section number that is a text', withSection({ section_number: '1' }), /section_number expected a number/],
  ['a section number that is not whole', withSection({ section_number: 1.5 }), /section_number expected a whole/],
  [
    'a section number without end',
    withSection({ section_number: Number.POSITIVE_INFINITY }),
    /^\$\.sections\[0\]\.section_number expected a finite number/,
  ],
  ['an empty title', withSection({ title: ' \n' }), /^\$\.sections\[0\]\.title expected a non-empty string/],
  ['a title of control characters', withSection({ title: '\u0007' }), /\.title expected a non-empty string/],
  ['a description that is no text', withSection({ description: 1 }), /\.description expected a string/],
  ['files that are no list', withSection({ files: 'a' }), /\.files expected an array of files/],
  ['an empty path', withFile({ file_path: '' }), /^\$\.sections\[0\]\.files\[0\]\.file_path expected a non-empty/],
  ['a file without a role', withSection({ files: [{ file_path: 'a' }] }), /\.role is missing/],
  ['lines that are no number', withFile({ lines_added: '3' }), /\.lines_added expected a number/],
  ['lines below 0', withFile({ lines_deleted: -1 }), /\.lines_deleted expected a number of at least 0/],
  ['half a line', withFile({ lines_added: 0.5 }), /\.lines_added expected a whole number/],
  ['dependencies that are no list', { ...meta, dependencies: {} }, /^\$\.dependencies expected an array/],
];

for (const [name, payload, fault] of faulty) {
  test(`a map with ${name} is refused by its JSON path`, () => {
    assert.ok(
      faultsOf(payload).some((line) => fault.test(line)),
      faultsOf(payload).join('\n'),
    );
  });
}

test('every fault of a map is named, not only the first', () => {
  assert.deepEqual(
    faultsOf({ schema_version: 2, sections: [{ files: [{}] }] }).map((line) => line.split(' ')[0]),
    [
      '$.schema_version',
      '$.sections[0].section_number',
      '$.sections[0].title',
      '$.sections[0].files[0].file_path',
      '$.sections[0].files[0].role',
      '$.sections[0].files[0].lines_added',
      '$.sections[0].files[0].lines_deleted',
    ],
  );
});

test('sections and files are counted, whatever the payload says of itself', () => {
  const payload = {
    ...meta,
    section_count: 40,
    file_count: 2,
    sections: [section, { ...section, section_number: 2, files: [file, file] }, { ...section, files: [] }],
  };
  assert.deepEqual(accepted(payload).summary, { section_count: 3, file_count: 3 });
  assert.deepEqual(accepted({ schema_version: 1, sections: [] }).summary, { section_count: 0, file_count: 0 });
});

test('what depends on what is kept and not checked', () => {
  const dependencies = [{ from_section: 'one', to_section: null }, 7, 'free'];
  assert.deepEqual(accepted({ ...meta, dependencies }).payload['dependencies'], dependencies);
});

test('keys of a map that are not named are kept, in the order in which they came', () => {
  const payload = { zebra: [1, { deep: null }], ...withFile({ extra: { a: 1 } }), last: 'x' };
  assert.equal(JSON.stringify(accepted(payload).payload), JSON.stringify(payload));
});

test('free texts of a map are cleaned, also where a dependency repeats a title, and a cut is reported', () => {
  const cleaned = accepted({
    ...meta,
    sections: [
      {
        ...section,
        title: '[ocr] The\u0007 store',
        description: 'x'.repeat(5000),
        files: [{ ...file, role: 'a\u001b' }],
      },
    ],
    dependencies: [{ from_section: 1, from_title: '[ocr] The\u0007 store' }],
  });
  const [first] = cleaned.payload['sections'] as readonly JsonObject[];
  assert.equal(first?.['title'], 'The store');
  assert.equal(String(first?.['description']).length, longestText);
  assert.deepEqual(first?.['files'], [{ ...file, role: 'a' }]);
  assert.deepEqual(cleaned.payload['dependencies'], [{ from_section: 1, from_title: 'The store' }]);
  assert.deepEqual(cleaned.notes, ['$.sections[0].description was cut to 4096 characters']);
});

test('a map that is stored is accepted again as it is, and prints the same', () => {
  const text = fc.string({ unit: 'binary' });
  fc.assert(
    fc.property(text, text, fc.jsonValue(), (title, role, extra) => {
      const first = checkMapMeta(
        JSON.parse(JSON.stringify(withSection({ title, extra, files: [{ ...file, role, extra }] }))),
      );
      fc.pre(first.ok);
      // Once the prefix is gone another one may have come to light; that one is text.
      fc.pre(!/^\s*\[ocr\]/i.test(`${title}${role}`));
      const again = accepted(JSON.parse(JSON.stringify(first.value.payload)));
      assert.equal(printMapMeta(again.payload), printMapMeta(first.value.payload));
    }),
  );
});
