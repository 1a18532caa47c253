import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadVerb } from '../verbs/named.gen.ts';
import { verbs } from '../verbs/registry.gen.ts';
import { moreVerbs } from './more-verbs.ts';
import { allVerbs } from './verbs.ts';

test('what a name alone loads is the verb that a command line with that name means among all of them', async () => {
  for (const [name, load] of loadVerb) {
    const verb = await load();
    assert.equal(verb.name, name);
    assert.ok(verbs.includes(verb), name);
    const others = allVerbs.filter((other) => other !== verb);
    const longer = others
      .flatMap((other) => [
        other.name,
        ...other.aliases.map((alias) => alias.name),
        ...other.retired,
        ...(other.forms?.words ?? []).map((word) => `${other.name} ${word}`),
      ])
      .filter((other) => other === name || other.startsWith(`${name} `));
    assert.deepEqual(longer, [], name);
  }
});

test('of several names the first that a verb has is loaded, and all verbs where none has one', async () => {
  assert.deepEqual(
    (await moreVerbs(['handoff ready', 'handoff'])).map(({ name }) => name),
    ['handoff ready'],
  );
  assert.deepEqual(
    (await moreVerbs(['list now', 'list'])).map(({ name }) => name),
    ['list'],
  );
  for (const names of [
    ['state show', 'state'],
    ['handoff', 'handoff'],
    ['toString', 'constructor'],
    ['', ''],
  ])
    assert.deepEqual(await moreVerbs(names), allVerbs);
});
