import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { bindContext, type ContextField, type ContextProblems, type ContextSchema } from './context.ts';

const field = (more: Partial<ContextField> = {}): ContextField => ({
  type: 'string',
  required: false,
  description: '',
  default: null,
  ...more,
});

const schemaOf = (fields: readonly (readonly [string, ContextField])[]): ContextSchema => new Map(fields);

const bound = (schema: ContextSchema, given: readonly (readonly [string, string])[] = []) => {
  const values = bindContext(schema, new Map(given));
  if (!values.ok) assert.fail(JSON.stringify(values.error));
  return values.value;
};

const problemsOf = (schema: ContextSchema, given: readonly (readonly [string, string])[] = []): ContextProblems => {
  const values = bindContext(schema, new Map(given));
  if (values.ok) assert.fail(JSON.stringify(values.value));
  return values.error;
};

test('a text is bound byte for byte, under any name', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('__proto__', 'constructor', 'toString')),
      fc.string({ unit: 'binary', minLength: 1 }),
      (name, value) => {
        const values = bound(schemaOf([[name, field({ required: true })]]), [[name, value]]);
        assert.deepEqual(Object.entries(values), [[name, value]]);
        assert.equal(Object.getPrototypeOf(values), Object.prototype);
      },
    ),
  );
});

test('a default fills what is not given, also where it is required; what is optional and without one is nothing', () => {
  const schema = schemaOf([
    ['goal', field({ required: true, default: 'tidy up' })],
    ['scope', field({ type: 'path', default: './src//**/*' })],
    ['note', field()],
    ['quick', field({ type: 'boolean' })],
    ['area', field({ type: 'path' })],
  ]);
  const nothing = { goal: 'tidy up', scope: 'src/**/*', note: '', quick: '', area: '' };
  assert.deepEqual(bound(schema), nothing);
  assert.deepEqual(bound(schema, [['goal', '']]), nothing);
  assert.deepEqual(bound(schema, [['scope', '']]), { ...nothing, scope: '' });
});

test('all that is required and missing is told at once, with what is wrong besides', () => {
  const schema = schemaOf([
    ['goal', field({ required: true, description: 'What to do' })],
    ['scope', field({ required: true, type: 'path' })],
    ['quick', field({ type: 'boolean' })],
    ['given', field({ required: true })],
  ]);
  const { missing, faults } = problemsOf(schema, [
    ['given', 'x'],
    ['scope', ''],
    ['quick', 'yes'],
    ['gaol', 'x'],
  ]);
  assert.deepEqual(missing, [
    { name: 'goal', description: 'What to do', type: 'string' },
    { name: 'scope', description: '', type: 'path' },
  ]);
  assert.deepEqual(faults, [
    'The template has no field gaol: perhaps goal; it takes goal, scope, quick, given.',
    'The value of quick is neither true nor false.',
  ]);
});

test('names that objects have by themselves are no fields', () => {
  const { faults } = problemsOf(schemaOf([]), [
    ['__proto__', 'x'],
    ['constructor', 'x'],
  ]);
  assert.deepEqual(faults, [
    'The template has no field __proto__: it takes no values.',
    'The template has no field constructor: it takes no values.',
  ]);
});

test('a boolean is true or false', () => {
  const schema = schemaOf([['quick', field({ type: 'boolean' })]]);
  for (const value of ['true', 'false']) assert.deepEqual(bound(schema, [['quick', value]]), { quick: value });
  for (const value of ['', 'TRUE', '1', 'yes', ' true'])
    assert.deepEqual(problemsOf(schema, [['quick', value]]).faults, ['The value of quick is neither true nor false.']);
});

test('a path has its parts between slashes and stays in the project; a pattern is a path', () => {
  const schema = schemaOf([['at', field({ type: 'path' })]]);
  const legal: readonly (readonly [string, string])[] = [
    ['src/**/*', 'src/**/*'],
    ['src\\auth\\*.ts', 'src/auth/*.ts'],
    ['./a//b/./c/', 'a/b/c'],
    ['a/../b', 'b'],
    ['.', '.'],
    ['a/..', '.'],
    ['src/{a,b}/[x-z]?.ts', 'src/{a,b}/[x-z]?.ts'],
    ['..hidden/v1..v2*', '..hidden/v1..v2*'],
    ['~temp/$(x)', '~temp/$(x)'],
    ['héllo wörld', 'héllo wörld'],
  ];
  for (const [given, expected] of legal) assert.deepEqual(bound(schema, [['at', given]]), { at: expected }, given);
  const illegal: readonly (readonly [string, RegExp])[] = [
    ['/etc/passwd', /absolute/],
    ['\\\\host\\share', /absolute/],
    ['C:\\x', /absolute/],
    ['c:x', /absolute/],
    ['..', /leads out/],
    ['a/../../b', /leads out/],
    ['a\\..\\..\\b', /leads out/],
    ['src/**/../../x', /goes up from a pattern/],
    ['{..,a}/x', /goes up from a pattern/],
    ['{a/..,b}', /goes up from a pattern/],
    ['~', /home folder/],
    ['~/x', /home folder/],
    ['./~/x', /home folder/],
    ['a/../C:/x', /absolute/],
    ['a\0b', /control character/],
    ['a\nb', /control character/],
  ];
  for (const [given, problem] of illegal)
    assert.match(problemsOf(schema, [['at', given]]).faults[0] ?? '', problem, given);
});

test('a path that is bound leads nowhere outside, whatever was given, and is bound the same again', () => {
  const schema = schemaOf([['at', field({ type: 'path' })]]);
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('.', '..', '/', '\\', 'a', '*', ':', '~', '{', ','), maxLength: 12 }),
      (given) => {
        const values = bindContext(schema, new Map([['at', given]]));
        if (!values.ok) return;
        const path = values.value['at'] ?? '';
        assert.ok(!path.startsWith('/') && !path.includes('\\'));
        assert.ok(!path.split('/').includes('..'));
        assert.deepEqual(bound(schema, [['at', path]]), { at: path });
      },
    ),
    { numRuns: 3000 },
  );
});
